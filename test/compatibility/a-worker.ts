import { type Delivery, type DeliveryMessage, OPEN_STATUSES } from '../../functions/domain/delivery.ts';
import { DEFAULT_GRACE_SECONDS, LONG_BACKLOG } from '../../functions/domain/due.ts';
import type { Lane } from '../../functions/domain/lanes.ts';
import { DEFAULT_RETRY_POLICY, RECONCILE_LOOKAHEAD_SECONDS } from '../../functions/domain/timing.ts';
import { attemptDelivery } from '../../functions/engine/attempt-delivery.ts';
import { auditLedger } from '../../functions/engine/audit-ledger.ts';
import { processDeliveryStream } from '../../functions/engine/delivery-stream.ts';
import { fanOut } from '../../functions/engine/fan-out.ts';
import { purgeSandboxes } from '../../functions/engine/purge.ts';
import { reconcileDeliveries } from '../../functions/engine/reconcile.ts';
import { organizationStates } from '../../functions/platform/organization-states.ts';
import { deliveryMoves, deliveryStore, parseDelivery } from '../../functions/store/deliveries.ts';
import { deliveryContexts } from '../../functions/store/delivery-context.ts';
import { dueIndex } from '../../functions/store/due-index.ts';
import { endpointStore } from '../../functions/store/endpoints.ts';
import { DELIVERY_SHARDS, DUE_SHARDS, LEDGER_SHARDS } from '../../functions/store/keys.ts';
import { deliveriesInHour, ledgerStore } from '../../functions/store/ledger.ts';
import { readOrganizationState } from '../../functions/store/organizations.ts';
import { parseOutboxRecord } from '../../functions/store/outbox.ts';
import { hasRows, purgeStore } from '../../functions/store/purges.ts';
import { committer } from '../../functions/store/transaction.ts';
import { rowsIn } from '../contract/store/rows.ts';
import { noMeasures } from '../doubles/no-measures.ts';
import { recordedLog } from '../doubles/recorded-log.ts';
import type { TestTables } from '../engines.ts';

const SHARD = 'shardId-00000000000000000000-of-the-present';

/** The present workers over tables, at a fixed time, with receivers that accept everything. */
export function aWorker({ service, outbox, deliveries, ledger, knowledge }: TestTables, at: Date) {
  let skippedMs = 0;
  const now = () => new Date(at.getTime() + skippedMs);
  const log = recordedLog();
  const organizations = organizationStates(readOrganizationState(service));
  const store = deliveryStore(deliveries);
  const due = dueIndex(deliveries);
  const reminders: DeliveryMessage[] = [];
  const queues = {
    async send(_: unknown, messages: readonly { message: DeliveryMessage }[]) {
      reminders.push(...messages.map(({ message }) => message));
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
      prepare: async () => async () => ({ status: 204 }),
      takeTurn: async () => ({ kind: 'start', at: 0 }),
      measures: noMeasures,
      log,
      now,
      wait: async () => undefined,
    },
    { retry: DEFAULT_RETRY_POLICY, leaseSeconds: 25, attemptSeconds: 10 },
  );
  const contextsOf = deliveryContexts(service, outbox, () => undefined);
  const follow = processDeliveryStream(
    { due, ledger: ledgerStore(ledger), organizations: organizations, log, now },
    { graceSeconds: DEFAULT_GRACE_SECONDS },
  );
  const look = reconcileDeliveries(
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
    organizations: organizations,
    queues,
    log,
    now,
  });
  const all = async () => (await rowsIn(deliveries)).map(parseDelivery);

  /**
   * Processes all work items of the outbox again, as after a replay: work that a version had in progress may
   * be missing in the index.
   */
  async function handOutAll(): Promise<void> {
    const owed = (await rowsIn(outbox)).flatMap((row) => parseOutboxRecord(row) ?? []);
    const failed = await handOut(owed);
    if (failed.length > 0) throw new Error(`${failed.length} entries could not be processed`);
  }

  /** Attempts the deliveries whose messages were sent. A message moved to another queue is there at once. */
  async function attemptAll(): Promise<void> {
    for (const message of reminders.splice(0)) {
      const contextOf = await contextsOf([message]);
      const attempt = (lane: Lane) => deal(message, contextOf(message), lane);
      const disposition = await attempt('retry');
      if (disposition.kind === 'move') await attempt(disposition.lane);
    }
  }

  return {
    log,
    all,
    open: async () => (await all()).filter(isOpen),

    /** Processes all work to its end. */
    async finish(): Promise<void> {
      // Removes the messages first, so that deliveries can only be found in the index.
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
        await attemptAll();
      }
      skippedMs = 0;
    },

    audit: () =>
      auditLedger(
        {
          ledger: ledgerStore(ledger),
          deliveries: { inHour: deliveriesInHour(deliveries) },
          due,
          organizations: organizations,
          log,
          now,
        },
        { ledgerShards: LEDGER_SHARDS, deliveryShards: DELIVERY_SHARDS, graceSeconds: DEFAULT_GRACE_SECONDS },
      )(() => true),

    purge: () =>
      purgeSandboxes(
        {
          purges: purgeStore(service),
          remains: [outbox, deliveries, ledger, knowledge, service].map(hasRows),
          log,
          now,
        },
        { lingerSeconds: 120, leaseSeconds: 60 },
      )(() => true),
  };
}

const isOpen = ({ status }: Delivery): boolean => OPEN_STATUSES.some((open) => open === status);
