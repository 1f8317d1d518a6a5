import { committer } from '../../functions/aws/transaction.ts';
import { attemptDelivery } from '../../functions/delivery/attempt.ts';
import { deliveryMoves, deliveryStore, parseDelivery } from '../../functions/delivery/deliveries.ts';
import { type Delivery, type DeliveryMessage, OPEN_STATUSES } from '../../functions/delivery/delivery.ts';
import { deliveryContexts } from '../../functions/delivery/delivery-context.ts';
import { dueIndex } from '../../functions/delivery/delivery-rows.ts';
import { fanOut } from '../../functions/delivery/fan-out.ts';
import type { Lane } from '../../functions/delivery/lanes.ts';
import { deliveriesInHour, ledgerStore } from '../../functions/delivery/ledger.ts';
import { auditLedger, processDeliveryStream } from '../../functions/delivery/ledger-updates.ts';
import { WORK } from '../../functions/delivery/outbox.ts';
import { reconcileDeliveries } from '../../functions/delivery/reconcile.ts';
import { DEFAULT_GRACE_SECONDS, DEFAULT_RETRY_POLICY } from '../../functions/delivery/timing.ts';
import { endpointStore } from '../../functions/receivers/endpoints.ts';
import { organizationStates, readOrganizationState } from '../../functions/tenancy/organizations.ts';
import { purgeSandboxes, purgeStore, sandboxRows } from '../../functions/tenancy/purge.ts';
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
  const deliveryMessages: DeliveryMessage[] = [];
  const queues = {
    async send(_: unknown, messages: readonly { message: DeliveryMessage }[]) {
      deliveryMessages.push(...messages.map(({ message }) => message));
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
  const processMessage = attemptDelivery(
    {
      deliveries: { ...store, ...moves },
      endpoints: endpointStore(service),
      queues,
      prepare: async () => async () => ({ status: 204 }),
      takeTurn: async () => ({ kind: 'start', at: 0, attempts: 0 }),
      measures: noMeasures,
      log,
      now,
      wait: async () => undefined,
    },
    { retry: DEFAULT_RETRY_POLICY, leaseSeconds: 25, attemptSeconds: 10 },
  );
  const contextsOf = deliveryContexts(service, outbox, () => undefined);
  const follow = processDeliveryStream(
    { due, ledger: ledgerStore(ledger), organizations, log, now },
    { graceSeconds: DEFAULT_GRACE_SECONDS },
  );
  const look = reconcileDeliveries({ due, queues, log, now }, { graceSeconds: DEFAULT_GRACE_SECONDS });
  const handOut = fanOut({
    subscribers: endpointStore(service),
    deliveries: store,
    organizations,
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
    const owed = (await rowsIn(outbox)).flatMap((row) => WORK.parse(row) ?? []);
    const failed = await handOut(owed);
    if (failed.length > 0) throw new Error(`${failed.length} entries could not be processed`);
  }

  /** Attempts the deliveries whose messages were sent. A message moved to another queue is there at once. */
  async function attemptAll(): Promise<void> {
    for (const message of deliveryMessages.splice(0)) {
      const contextOf = await contextsOf([message]);
      const attempt = (lane: Lane) => processMessage(message, contextOf(message), lane);
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
      deliveryMessages.splice(0);
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
          readDeliveries: deliveriesInHour(deliveries),
          due,
          organizations,
          log,
          now,
        },
        { graceSeconds: DEFAULT_GRACE_SECONDS },
      )(() => true),

    purge: () =>
      purgeSandboxes(
        {
          purges: purgeStore(service),
          remains: [outbox, deliveries, ledger, knowledge, service].map(sandboxRows),
          log,
          now,
        },
        { lingerSeconds: 120, leaseSeconds: 60 },
      )(() => true),
  };
}

const isOpen = ({ status }: Delivery): boolean => OPEN_STATUSES.some((open) => open === status);
