import type { DueState } from '../../functions/domain/due.ts';
import type { Lane } from '../../functions/domain/lanes.ts';
import type { DispatchPorts } from '../../functions/engine/dispatch.ts';
import type { DispatcherPorts } from '../../functions/engine/dispatcher.ts';
import type { FanOutPorts } from '../../functions/engine/fan-out.ts';
import type { Log } from '../../functions/engine/log.ts';
import type { Outgoing } from '../../functions/engine/queues.ts';
import type { ReconcilePorts } from '../../functions/engine/reconcile.ts';
import type { WatchPorts } from '../../functions/engine/watch.ts';
import { portsOf } from './ports.ts';
import type { Process } from './processes.ts';
import { readable } from './readable.ts';
import type { World } from './world.ts';

/** What a process can reach. */
export interface Reach {
  deliveries: DispatchPorts['deliveries'] & FanOutPorts['deliveries'];
  endpoints: DispatchPorts['endpoints'] & FanOutPorts['subscribers'];
  queues: DispatchPorts['queues'] & DispatcherPorts['queues'] & Pick<ReconcilePorts['queues'], 'backlog'>;
  due: ReconcilePorts['due'] & WatchPorts['due'];
  ledger: WatchPorts['ledger'];
  /** Puts each call of a port through what the scheduler does with calls. */
  gate<T extends object>(name: string, port: T): T;
  log: Log;
  now(): Date;
}

/** Calls that do something once more when the SDK repeats them. A transaction has a token by which a repetition is known. */
const REPEATABLE = new Set([
  'deliveries.add',
  'deliveries.skip',
  'due.watch',
  'due.postpone',
  'due.skip',
  'queues.send',
  'endpoints.markSlow',
  'ledger.add',
]);
const ENDING = new Set(['deliveries.settle', 'deliveries.exhaust']);

const touchesEndpoint = (parameters: readonly unknown[]): boolean => {
  const outcome: unknown = parameters.at(-1);
  return typeof outcome === 'object' && outcome !== null && 'effect' in outcome && outcome.effect !== 'none';
};

/** @returns what gives each process its ports: to the stores and queues of the world, whose witness sees every effect */
export function reachOf(world: World): (process: Process) => Reach {
  const { deliveries, endpoints, due, ledger, lanes, witness } = world;
  const gate = portsOf(world.processes, {
    repeatable: (call, parameters) =>
      REPEATABLE.has(call) || (ENDING.has(call) && !touchesEndpoint(parameters)),
    contended: (call, parameters) =>
      ENDING.has(call) && touchesEndpoint(parameters) ? 'endpoint-changed' : undefined,
    lateness: () => world.random.pick([0.1, 1, 5, 30]),
    answered(process, call, parameters, answer) {
      world.trace?.(`${process.name}  ${call}(${readable(parameters)}) → ${readable([answer])}`);
    },
  });

  function logOf(process: Process): Log {
    const say = (level: string) => (message: string, fields: Record<string, unknown>) => {
      const reason = String(fields.reason);
      if (DEFECT.test(reason)) witness.tell('no defect', `${process.name}: ${message}: ${reason}`);
      world.trace?.(`${process.name}  ${level}: ${message} ${readable([fields])}`);
    };
    return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
  }

  /** What the index showed before, by its state: it is eventually consistent. */
  const shownBefore = new Map<DueState, Awaited<ReturnType<Reach['due']['find']>>>();

  const staleFind: Reach['due']['find'] = async (state, shard, until, after) => {
    const before = shownBefore.get(state);
    const page = await due.find(state, shard, until, after);
    if (after === undefined) shownBefore.set(state, page);
    return before !== undefined && after === undefined && world.random.chance(world.staleReads)
      ? before
      : page;
  };

  /** A queue counts the seconds of a delay by its own clock, and its caller by another. */
  const byTrueTime = (process: Process, messages: readonly Outgoing[]): Outgoing[] =>
    messages.map(({ reminder, until }) => ({
      reminder,
      ...(until === undefined ? {} : { until: new Date(until.getTime() - process.skewMs) }),
    }));

  return (process) => ({
    deliveries: gate(process, 'deliveries', {
      find: (ref) => deliveries.find(ref),
      add: (delivery) => witness.watching(delivery, () => deliveries.add(delivery)),
      async claim(ref, terms) {
        const before = deliveries.present(ref);
        const result = await witness.watching(ref, () => deliveries.claim(ref, terms));
        if (result.kind === 'claimed') witness.attempts.claimed(process, before, result.delivery);
        return result;
      },
      settle: (claimed, settlement, outcome) =>
        witness.settling(process, claimed, settlement, outcome, () =>
          deliveries.settle(claimed, settlement, outcome),
        ),
      exhaust: (ref, error, maxAttempts, outcome) =>
        witness.ending(process, ref, 'exhausted', outcome, () =>
          deliveries.exhaust(ref, error, maxAttempts, outcome),
        ),
      skip: (ref, reason, now) => witness.watching(ref, () => deliveries.skip(ref, reason, now)),
    } satisfies Reach['deliveries']),
    endpoints: gate(process, 'endpoints', {
      find: (orgId, id) => endpoints.find(orgId, id),
      all: (orgId) => endpoints.all(orgId),
      async markSlow(orgId, id, until) {
        await endpoints.markSlow(orgId, id, until);
        world.history.note(orgId, id);
      },
    } satisfies Reach['endpoints']),
    queues: gate(process, 'queues', {
      async send(lane: Lane, messages: readonly Outgoing[]) {
        const refused = await lanes.send(lane, byTrueTime(process, messages));
        witness.sending(
          messages.map(({ reminder }) => reminder),
          refused,
        );
        return refused;
      },
      hide: (lane, receiptHandle, until) =>
        lanes.hide(lane, receiptHandle, new Date(until.getTime() - process.skewMs)),
      crowded: (lane) => lanes.crowded(lane),
      backlog: (lane) => lanes.backlog(lane),
    } satisfies Reach['queues']),
    due: gate(process, 'due', {
      find: (state, shard, until, after) => staleFind(state, shard, until, after),
      watch: (ref, dueAt) => witness.watching(ref, () => due.watch(ref, dueAt)),
      postpone: (entry, until) => witness.postponing(entry.reminder, () => due.postpone(entry, until)),
      skip: (ref, reason, now) => witness.watching(ref, () => due.skip(ref, reason, now)),
    } satisfies Reach['due']),
    ledger: gate(process, 'ledger', {
      async add(part, entry) {
        const result = await ledger.add(part, entry);
        if (result === 'added') world.deliveryStream.countedTo(part.shardId, entry, Number(part.last));
        return result;
      },
    } satisfies Reach['ledger']),
    gate: (name, port) => gate(process, name, port),
    log: logOf(process),
    now: () => process.now(),
  });
}

/** What no interference of the simulation looks like. */
const DEFECT = /^(Type|Reference|Range|Syntax)Error/;
