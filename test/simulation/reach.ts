import type { DueState } from '../../functions/domain/due.ts';
import type { OrgId } from '../../functions/domain/ids.ts';
import type { Lane } from '../../functions/domain/lanes.ts';
import type { DispatchPorts } from '../../functions/engine/dispatch.ts';
import type { DispatcherPorts } from '../../functions/engine/dispatcher.ts';
import type { FanOutPorts } from '../../functions/engine/fan-out.ts';
import type { Standings } from '../../functions/engine/generations.ts';
import type { Log } from '../../functions/engine/log.ts';
import type { PurgePorts } from '../../functions/engine/purge.ts';
import type { Outgoing } from '../../functions/engine/queues.ts';
import type { ReconcilePorts } from '../../functions/engine/reconcile.ts';
import type { WatchPorts } from '../../functions/engine/watch.ts';
import { standings as remembering } from '../../functions/platform/standings.ts';
import { portsOf } from './ports.ts';
import type { Process } from './processes.ts';
import { readable } from './readable.ts';
import type { World } from './world.ts';

/** What a process can reach. */
export interface Reach {
  process: Process;
  deliveries: DispatchPorts['deliveries'] & FanOutPorts['deliveries'];
  endpoints: DispatchPorts['endpoints'] & FanOutPorts['subscribers'];
  queues: DispatchPorts['queues'] & DispatcherPorts['queues'] & Pick<ReconcilePorts['queues'], 'backlog'>;
  due: ReconcilePorts['due'] & WatchPorts['due'];
  ledger: WatchPorts['ledger'];
  standings: Standings;
  /** Organizations that the process has asked for and not found. */
  notFound: ReadonlySet<OrgId>;
  purges: PurgePorts['purges'];
  remains: PurgePorts['remains'];
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
  'purges.release',
  'purges.progress',
  'purges.close',
]);
const ENDING = new Set(['deliveries.settle', 'deliveries.exhaust']);

const touchesEndpoint = (parameters: readonly unknown[]): boolean => {
  const outcome: unknown = parameters.at(-1);
  return typeof outcome === 'object' && outcome !== null && 'effect' in outcome && outcome.effect !== 'none';
};

/** @returns what gives each process its ports: to the stores and queues of the world, whose witness sees every effect */
export function reachOf(world: World): (process: Process) => Reach {
  const { deliveries, endpoints, due, ledger, lanes, purges, witness, organizations } = world;
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

  /** Reads what an organization is; what is remembered of that lives as long as the process. */
  const standingOf = (process: Process, notFound: Set<OrgId>) => {
    const { of } = gate(process, 'standings', {
      async of(orgId: OrgId) {
        const standing = organizations.read(orgId);
        if (standing === undefined) {
          world.statistics.count('organizations not found');
          notFound.add(orgId);
        }
        return standing;
      },
    });
    return of;
  };

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

  // Made when it is asked for, which saves most of them.
  return (process, notFound = new Set<OrgId>()) => ({
    process,
    get deliveries() {
      return gate(process, 'deliveries', {
        find: (ref) => deliveries.find(ref),
        add(delivery) {
          witness.wiped.writes(process, 'adds a delivery', delivery);
          return witness.watching(delivery, () => deliveries.add(delivery));
        },
        async claim(ref, terms) {
          const before = deliveries.present(ref);
          witness.wiped.moves(process, 'claims', before);
          const result = await witness.watching(ref, () => deliveries.claim(ref, terms));
          if (result.kind === 'claimed') witness.attempts.claimed(process, before, result.delivery);
          return result;
        },
        settle: (claimed, settlement, outcome) =>
          witness.settling(process, claimed, settlement, outcome, () =>
            deliveries.settle(claimed, settlement, outcome),
          ),
        exhaust(ref, error, maxAttempts, outcome) {
          witness.wiped.moves(process, 'exhausts', deliveries.present(ref));
          return witness.ending(process, ref, 'exhausted', outcome, () =>
            deliveries.exhaust(ref, error, maxAttempts, outcome),
          );
        },
        skip(ref, reason, now) {
          witness.wiped.moves(process, 'skips', deliveries.present(ref));
          return witness.watching(ref, () => deliveries.skip(ref, reason, now));
        },
      } satisfies Reach['deliveries']);
    },
    get endpoints() {
      return gate(process, 'endpoints', {
        find: (orgId, id) => endpoints.find(orgId, id),
        all: (orgId) => endpoints.all(orgId),
        async markSlow(orgId, id, until) {
          await endpoints.markSlow(orgId, id, until);
          world.history.note(orgId, id);
        },
      } satisfies Reach['endpoints']);
    },
    get queues() {
      return gate(process, 'queues', {
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
      } satisfies Reach['queues']);
    },
    get due() {
      return gate(process, 'due', {
        find: (state, shard, until, after) => staleFind(state, shard, until, after),
        watch: (ref, dueAt) => witness.watching(ref, () => due.watch(ref, dueAt)),
        postpone: (entry, until) => witness.postponing(entry.reminder, () => due.postpone(entry, until)),
        skip: (ref, reason, now) => witness.watching(ref, () => due.skip(ref, reason, now)),
      } satisfies Reach['due']);
    },
    get ledger() {
      return gate(process, 'ledger', {
        async add(part, entry) {
          witness.wiped.writes(process, 'counts a change', entry);
          const result = await ledger.add(part, entry);
          if (result !== 'added') return result;
          const { webhookId, generation, hour } = entry;
          world.sandboxTables.written('ledger', entry, webhookId, generation, hour);
          world.deliveryStream.countedTo(part.shardId, entry, Number(part.last));
          return result;
        },
      } satisfies Reach['ledger']);
    },
    get standings() {
      return remembering(standingOf(process, notFound));
    },
    notFound,
    get purges() {
      return gate(process, 'purges', {
        open: () => purges.open(),
        lease: (purge, until, now) => purges.lease(purge, until, now),
        release: (purge) => purges.release(purge),
        async progress(purge, deleted) {
          await purges.progress(purge, deleted);
          witness.wiped.progressed(purge);
        },
        async close(purge) {
          await purges.close(purge);
          witness.wiped.closed(purge);
        },
      } satisfies Reach['purges']);
    },
    get remains() {
      return Object.entries(world.sandboxTables.all).map(([name, rows]) =>
        gate(process, name, {
          async find(tenant, limit) {
            const page = await rows.find(tenant, limit);
            // The purge has more time than others: it may go on when what it has seen is long past.
            const isSlow = !world.isUntroubled && world.random.chance(world.terms.slowFinds);
            if (isSlow) await world.processes.sleep(process, world.random.pick([60, 125, 130]));
            return page;
          },
          remove: (page) => rows.remove(page),
        } satisfies Reach['remains'][number]),
      );
    },
    gate: (name, port) => gate(process, name, port),
    log: logOf(process),
    now: () => process.now(),
  });
}

/** What no interference of the simulation looks like. */
const DEFECT = /^(Type|Reference|Range|Syntax)Error/;
