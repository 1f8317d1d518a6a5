import { type Delivery, type DeliveryMessage, OPEN_STATUSES } from '../../functions/delivery/delivery.ts';
import { dueIndex } from '../../functions/delivery/due-index.ts';
import { fanOut } from '../../functions/delivery/fan-out.ts';
import type { Lane } from '../../functions/delivery/lanes.ts';
import { deliveriesInHour, ledgerStore } from '../../functions/delivery/ledger.ts';
import { auditLedger, processDeliveryStream } from '../../functions/delivery/ledger-updates.ts';
import { WORK } from '../../functions/delivery/outbox.ts';
import { reconcileDeliveries } from '../../functions/delivery/reconcile.ts';
import { deliveryStore, parseDelivery } from '../../functions/delivery/rows.ts';
import { DEFAULT_GRACE_SECONDS } from '../../functions/delivery/timing.ts';
import { endpointStore } from '../../functions/receivers/endpoints.ts';
import { organizationStates, readOrganizationState } from '../../functions/tenancy/organizations.ts';
import { purgeSandboxes, purgeStore, sandboxRows } from '../../functions/tenancy/purge.ts';
import { rowsIn } from '../contract/store/rows.ts';
import { aDispatcher } from '../contract/store/stores.ts';
import { recordedLog } from '../doubles/recorded-log.ts';
import type { TestTables } from '../engines.ts';

const SHARD = 'shardId-00000000000000000000-of-the-present';

/** The present workers over tables, at a fixed time, with receivers that accept everything. */
export function aWorker(tables: TestTables, at: Date) {
  const { service, outbox, deliveries, ledger, knowledge } = tables;
  let skippedMs = 0;
  const now = () => new Date(at.getTime() + skippedMs);
  const log = recordedLog();
  const organizations = organizationStates(readOrganizationState(service));
  const store = deliveryStore(deliveries);
  const due = dueIndex(deliveries);
  const sent: { lane: Lane; message: DeliveryMessage }[] = [];
  const queues = {
    async send(lane: Lane, messages: readonly { message: DeliveryMessage }[]) {
      sent.push(...messages.map(({ message }) => ({ lane, message })));
      return [];
    },
    backlog: async () => 0,
  };
  const dispatch = aDispatcher(tables, {
    prepareSend: async () => async () => ({ status: 204 }),
    send: queues.send,
    log,
    now,
  });
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

  /** Attempts the deliveries whose messages were sent, also to another queue. */
  async function attemptAll(): Promise<void> {
    for (let next = sent.shift(); next !== undefined; next = sent.shift())
      await dispatch(next.lane, [{ message: next.message, receiptHandle: next.message.id }]);
  }

  return {
    log,
    all,
    open: async () => (await all()).filter(isOpen),

    /** Processes all work to its end. */
    async finish(): Promise<void> {
      // Removes the messages first, so that deliveries can only be found in the index.
      await handOutAll();
      sent.splice(0);
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
