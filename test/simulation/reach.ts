import type { OutgoingMessage } from '../../functions/domain/delivery.ts';
import type { DueState } from '../../functions/domain/due.ts';
import type { OrgId } from '../../functions/domain/ids.ts';
import type { Lane } from '../../functions/domain/lanes.ts';
import type { OrganizationStates } from '../../functions/domain/sandbox.ts';
import type { DeliveryStreamPorts } from '../../functions/engine/delivery-stream.ts';
import type { PurgePorts } from '../../functions/engine/purge.ts';
import type { Log } from '../../functions/platform/log-codes.ts';
import type { Engine } from './engine.ts';
import { brokenBy, logTo } from './failures.ts';
import { portsOf } from './ports.ts';
import type { Process } from './processes.ts';
import { readable } from './readable.ts';
import type { OwnStores } from './stores.ts';
import type { World } from './world.ts';

/** The ports of a process. */
export interface Reach {
  process: Process;
  /** Its stores, without the scheduler and the witness. */
  own: OwnStores;
  deliveries: OwnStores['deliveries'];
  schedules: OwnStores['schedules'];
  endpoints: OwnStores['endpoints'];
  queues: OwnStores['queues'];
  due: OwnStores['due'];
  ledger: DeliveryStreamPorts['ledger'];
  standings: OrganizationStates;
  /** Organizations that the process has read and not found. */
  notFound: ReadonlySet<OrgId>;
  purges: PurgePorts['purges'];
  remains: PurgePorts['remains'];
  /** Passes each call of a port through the scheduler. */
  gate<T extends object>(name: string, port: T): T;
  log: Log;
  now(): Date;
}

/**
 * Calls that have another effect when the SDK retries them. A transaction has a token that identifies a
 * retry.
 */
const REPEATABLE = new Set([
  'deliveries.add',
  'deliveries.skip',
  'schedules.apply',
  'due.watch',
  'due.postpone',
  'due.expire',
  'queues.send',
  'endpoints.markSlow',
  'endpoints.markProven',
  'endpoints.markStalled',
  'endpoints.endStalled',
  'endpoints.markAtRisk',
  'endpoints.beginStreak',
  'ledger.add',
  'purges.release',
  'purges.progress',
  'purges.close',
]);
const ENDING = new Set(['deliveries.settle', 'deliveries.exhaust']);

/** Whether the end of a delivery writes more than its own row: its endpoint, or the record of an arrival. */
const isTransaction = (parameters: readonly unknown[]): boolean => {
  const [delivery, settlement] = parameters.map(Object);
  return (
    Object(parameters.at(-1)).effect !== 'none' ||
    (settlement.kind === 'succeeded' && delivery.redeliveryOf !== undefined)
  );
};

/**
 * @returns a function that gives each process its ports: to the stores and queues of the world, where the
 * witness sees every effect
 */
export function reachOf(world: World): (process: Process) => Reach {
  const { deliveries, witness, organizations, stores } = world;
  const gate = portsOf(world.processes, {
    repeatable: (call, parameters) =>
      REPEATABLE.has(call) || (ENDING.has(call) && !isTransaction(parameters)),
    contended: (call, parameters) =>
      ENDING.has(call) && isTransaction(parameters) ? 'endpoint-changed' : undefined,
    lateness: () => world.random.pick([0.1, 1, 5, 30]),
    answered(process, call, parameters, answer) {
      world.trace?.(`${process.name}  ${call}(${readable(parameters)}) → ${readable([answer])}`);
    },
  });

  function createLog(process: Process): Log {
    return logTo((message, fields) => {
      const reason = fields.reason ?? fields.error;
      const promise = brokenBy(reason);
      if (promise !== undefined) witness.tell(promise, `${process.name}: ${message}: ${reason}`);
      world.trace?.(`${process.name}  logs: ${message} ${readable([fields])}`);
    });
  }

  /** Reads the state of an organization; it is cached for as long as the process lives. */
  const readState = (process: Process, own: OwnStores, notFound: Set<OrgId>) => {
    const { of } = gate(process, 'standings', {
      async of(orgId: OrgId) {
        const standing = organizations.isMissed(orgId) ? undefined : await own.standing(orgId);
        if (standing === undefined) {
          world.statistics.count('organizations not found');
          notFound.add(orgId);
        }
        return standing;
      },
    });
    return of;
  };

  /** An earlier state of the index for readers with the same code, because it is eventually consistent. */
  const shownBefore = new Map<Engine, Map<DueState, Awaited<ReturnType<Reach['due']['find']>>>>();

  const staleFind =
    ({ due, engine }: OwnStores): Reach['due']['find'] =>
    async (state, shard, until, after) => {
      const shown = shownBefore.get(engine) ?? new Map();
      shownBefore.set(engine, shown);
      const before = shown.get(state);
      const page = await due.find(state, shard, until, after);
      if (after === undefined) shown.set(state, page);
      return before !== undefined && after === undefined && world.random.chance(world.staleReads)
        ? before
        : page;
    };

  // Created on first use, because most are never used.
  const reach = (process: Process, own: OwnStores, notFound: Set<OrgId>): Reach => ({
    process,
    own,
    get deliveries() {
      return gate(process, 'deliveries', {
        find: (ref) => own.deliveries.find(ref),
        add(delivery) {
          witness.resetDeletion.writes(process, 'adds a delivery', delivery);
          return witness.watching(delivery, () => own.deliveries.add(delivery));
        },
        async claim(ref, terms) {
          const before = deliveries.present(ref);
          witness.resetDeletion.moves(process, 'claims', before);
          const result = await witness.watching(ref, () => own.deliveries.claim(ref, terms));
          if (result.kind === 'claimed') witness.attempts.claimed(process, before, result.delivery);
          return result;
        },
        settle: (claimed, settlement, outcome) =>
          witness.settling(process, claimed, settlement, outcome, () =>
            own.deliveries.settle(claimed, settlement, outcome),
          ),
        exhaust(ref, error, maxAttempts, outcome) {
          witness.resetDeletion.moves(process, 'exhausts', deliveries.present(ref));
          return witness.ending(process, ref, 'exhausted', outcome, () =>
            own.deliveries.exhaust(ref, error, maxAttempts, outcome),
          );
        },
        skip(ref, reason, now) {
          witness.resetDeletion.moves(process, 'skips', deliveries.present(ref));
          return witness.watching(ref, () => own.deliveries.skip(ref, reason, now));
        },
        park(ref, terms) {
          witness.resetDeletion.moves(process, 'parks', deliveries.present(ref));
          return witness.watching(ref, () => own.deliveries.park(ref, terms));
        },
      } satisfies Reach['deliveries']);
    },
    get schedules() {
      return gate(process, 'schedules', {
        apply: (id, update, now) => own.schedules.apply(id, update, now),
      } satisfies Reach['schedules']);
    },
    get endpoints() {
      return gate(process, 'endpoints', {
        find: (orgId, id) => own.endpoints.find(orgId, id),
        all: (orgId) => own.endpoints.all(orgId),
        async markSlow(orgId, id, until) {
          await own.endpoints.markSlow(orgId, id, until);
          world.history.note(orgId, id);
        },
        async markProven(orgId, id, now) {
          await own.endpoints.markProven(orgId, id, now);
          world.history.note(orgId, id);
        },
        async markStalled(orgId, id, until) {
          await own.endpoints.markStalled(orgId, id, until);
          world.history.note(orgId, id);
        },
        async markAtRisk(orgId, id, until) {
          await own.endpoints.markAtRisk(orgId, id, until);
          world.history.note(orgId, id);
        },
        async beginStreak(orgId, id) {
          const endpoint = await own.endpoints.beginStreak(orgId, id);
          world.history.note(orgId, id);
          return endpoint;
        },
        async endStalled(orgId, id, seen) {
          await own.endpoints.endStalled(orgId, id, seen);
          world.history.note(orgId, id);
        },
      } satisfies Reach['endpoints']);
    },
    get queues() {
      return gate(process, 'queues', {
        async send(lane: Lane, messages: readonly OutgoingMessage[]) {
          const refused = await own.queues.send(lane, messages);
          witness.sending(
            messages.map(({ message: reminder }) => reminder),
            refused,
          );
          return refused;
        },
        hide: (lane, receiptHandle, until) => own.queues.hide(lane, receiptHandle, until),
        crowded: (lane) => own.queues.crowded(lane),
        backlog: (lane) => own.queues.backlog(lane),
      } satisfies Reach['queues']);
    },
    get due() {
      return gate(process, 'due', {
        find: (state, shard, until, after) => staleFind(own)(state, shard, until, after),
        watch: (ref, dueAt) => witness.watching(ref, () => own.due.watch(ref, dueAt)),
        postpone: (entry, until, reason) =>
          witness.postponing(entry.message, reason, () => own.due.postpone(entry, until, reason)),
        expire: (entry, now) => witness.watching(entry.message, () => own.due.expire(entry, now)),
      } satisfies Reach['due']);
    },
    get ledger() {
      return gate(process, 'ledger', {
        async add(part, entry) {
          witness.resetDeletion.writes(process, 'counts a change', entry);
          const result = await own.ledger.add(part, entry);
          if (result !== 'added') return result;
          const { webhookId, generation, hour } = entry;
          world.sandboxTables.written('ledger', entry, webhookId, generation, hour);
          world.deliveryStream.countedTo(part.shardId, entry, Number(part.last));
          return result;
        },
      } satisfies Reach['ledger']);
    },
    get standings() {
      return own.engine.organizationStates(readState(process, own, notFound));
    },
    notFound,
    get purges() {
      return gate(process, 'purges', {
        open: (tell) => own.purges.open(tell),
        lease: (purge, until, now) => own.purges.lease(purge, until, now),
        release: (purge) => own.purges.release(purge),
        async progress(purge, deleted) {
          await own.purges.progress(purge, deleted);
          witness.resetDeletion.progressed(purge);
        },
        async close(purge) {
          await own.purges.close(purge);
          witness.resetDeletion.closed(purge);
        },
      } satisfies Reach['purges']);
    },
    get remains() {
      return Object.entries(own.remains).map(([name, rows]) =>
        gate(process, name, {
          async find(tenant, limit) {
            const page = await rows.find(tenant, limit);
            // The purge has more time than others: it may continue with data that was read long before.
            const isSlow = !world.isUntroubled && world.random.chance(world.terms.slowFinds);
            if (isSlow) await world.processes.sleep(process, world.random.pick([60, 125, 130]));
            return page;
          },
          remove: (page) => rows.remove(page),
        } satisfies Reach['remains'][number]),
      );
    },
    gate: (name, port) => gate(process, name, port),
    log: createLog(process),
    now: () => process.now(),
  });
  return (process) => reach(process, stores.of(process), new Set());
}
