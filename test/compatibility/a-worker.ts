import { type Delivery, OPEN_STATUSES, type Reminder } from '../../functions/domain/delivery.ts';
import { DEFAULT_GRACE_SECONDS, LONG_BACKLOG } from '../../functions/domain/due.ts';
import { DEFAULT_RETRY_POLICY, RECONCILE_LOOKAHEAD_SECONDS } from '../../functions/domain/timing.ts';
import { attemptDelivery } from '../../functions/engine/attempt-delivery.ts';
import { audit } from '../../functions/engine/audit.ts';
import { fanOut } from '../../functions/engine/fan-out.ts';
import { purge } from '../../functions/engine/purge.ts';
import { reconcile } from '../../functions/engine/reconcile.ts';
import { watch } from '../../functions/engine/watch.ts';
import { standings } from '../../functions/platform/standings.ts';
import { deliveryMoves, deliveryOf, deliveryStore } from '../../functions/store/deliveries.ts';
import { deliveryContexts } from '../../functions/store/delivery-context.ts';
import { dueIndex } from '../../functions/store/due-index.ts';
import { endpointStore } from '../../functions/store/endpoints.ts';
import { DELIVERY_SHARDS, DUE_SHARDS, LEDGER_SHARDS } from '../../functions/store/keys.ts';
import { deliveriesInHour, ledgerStore } from '../../functions/store/ledger.ts';
import { standingOf } from '../../functions/store/organizations.ts';
import { owedBy } from '../../functions/store/outbox.ts';
import { purgeStore, remainsIn } from '../../functions/store/purges.ts';
import { committer } from '../../functions/store/transaction.ts';
import { rowsIn } from '../contract/store/rows.ts';
import { noMeasures } from '../doubles/no-measures.ts';
import { recordedLog } from '../doubles/recorded-log.ts';
import type { TestTables } from '../engines.ts';

const SHARD = 'shardId-00000000000000000000-of-the-present';

/** The present workers over tables, all at one time, with receivers that accept everything. */
export function aWorker({ service, outbox, deliveries, ledger, knowledge }: TestTables, at: Date) {
  let skippedMs = 0;
  const now = () => new Date(at.getTime() + skippedMs);
  const log = recordedLog();
  const organizations = standings(standingOf(service));
  const store = deliveryStore(deliveries);
  const due = dueIndex(deliveries);
  const reminders: Reminder[] = [];
  const queues = {
    async send(_: unknown, messages: readonly { reminder: Reminder }[]) {
      reminders.push(...messages.map(({ reminder }) => reminder));
      return [];
    },
    crowded: async () => false,
    backlog: async () => 0,
  };
  const moves = deliveryMoves(deliveries, {
    service,
    outbox,
    commit: committer(service.client),
    graceSeconds: DEFAULT_GRACE_SECONDS,
  });
  const deal = attemptDelivery(
    {
      deliveries: { ...store, ...moves },
      endpoints: endpointStore(service),
      queues,
      prepare: async () => undefined,
      attempt: async () => ({ status: 204 }),
      measures: noMeasures,
      log,
      now,
      wait: async () => undefined,
    },
    { retry: DEFAULT_RETRY_POLICY, leaseSeconds: 25, attemptSeconds: 10 },
  );
  const contextsOf = deliveryContexts(service, outbox);
  const follow = watch(
    { due, ledger: ledgerStore(ledger), standings: organizations, log, now },
    { graceSeconds: DEFAULT_GRACE_SECONDS },
  );
  const look = reconcile(
    { due, queues, log, now },
    {
      shards: DUE_SHARDS,
      graceSeconds: DEFAULT_GRACE_SECONDS,
      lookaheadSeconds: RECONCILE_LOOKAHEAD_SECONDS,
      longBacklog: LONG_BACKLOG,
    },
  );
  const handOut = fanOut({
    subscribers: endpointStore(service),
    deliveries: store,
    standings: organizations,
    queues,
    log,
    now,
  });
  const all = async () => (await rowsIn(deliveries)).map(deliveryOf);

  /** Deals once more with all that the outbox owes, as after a replay: what a version was about when it ended may not be in the index yet. */
  async function handOutAll(): Promise<void> {
    const owed = (await rowsIn(outbox)).flatMap((row) => owedBy(row) ?? []);
    const failed = await handOut(owed);
    if (failed.length > 0) throw new Error(`${failed.length} entries could not be dealt with`);
  }

  /** Deals with the messages that were sent. */
  async function dealWithAll(): Promise<void> {
    for (const reminder of reminders.splice(0)) {
      const contextOf = await contextsOf([reminder]);
      await deal(reminder, { ...contextOf(reminder), readAt: now() }, 'retry');
    }
  }

  return {
    log,
    all,
    open: async () => (await all()).filter(isOpen),

    /** Brings everything to its end. */
    async finish(): Promise<void> {
      // What needs an attempt is only found in the index, so its messages are lost first.
      await handOutAll();
      reminders.splice(0);
      const open = (await all()).filter(isOpen);
      await follow(
        SHARD,
        open.map((delivery, index) => ({ kind: 'added', delivery, sequence: String(index + 1) })),
      );
      for (const hours of [0, 1]) {
        skippedMs = hours * 3_600_000;
        await look(() => true);
        await dealWithAll();
      }
      skippedMs = 0;
    },

    audit: () =>
      audit(
        {
          ledger: ledgerStore(ledger),
          deliveries: { inHour: deliveriesInHour(deliveries) },
          due,
          standings: organizations,
          log,
          now,
        },
        { ledgerShards: LEDGER_SHARDS, deliveryShards: DELIVERY_SHARDS, graceSeconds: DEFAULT_GRACE_SECONDS },
      )(() => true),

    purge: () =>
      purge(
        {
          purges: purgeStore(service),
          remains: [outbox, deliveries, ledger, knowledge, service].map(remainsIn),
          log,
          now,
        },
        { lingerSeconds: 120, leaseSeconds: 60 },
      )(() => true),
  };
}

const isOpen = ({ status }: Delivery): boolean => OPEN_STATUSES.some((open) => open === status);
