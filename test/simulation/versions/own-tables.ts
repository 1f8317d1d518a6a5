import type { DeliveryMessage } from '../../../functions/domain/delivery.ts';
import type { DueEntry } from '../../../functions/domain/due.ts';
import { LANES, type Lane } from '../../../functions/domain/lanes.ts';
import type { Code } from '../../compatibility/versions.ts';
import { MemoryRateSchedules } from '../../doubles/memory-rate-schedules.ts';
import type { MemoryTables } from '../../doubles/tables/memory-tables.ts';
import type { Process } from '../processes.ts';
import type { OwnStores } from '../stores.ts';
import { NAMES, type TableName } from '../table-names.ts';
import type { World } from '../world.ts';
import { LANE_URLS, lanesClient } from './lanes-client.ts';
import { imageOf } from './rows.ts';

/** The queues of a version that does not know stalled endpoints. */
const LANES_BEFORE = ['fresh', 'retry', 'slow'] as const;

/** The world's tables, queues and streams, as the stores of a version use them. */
export function ownTables(world: World, tables: MemoryTables, code: Code, process: Process): OwnStores {
  const { terms, sandboxTables } = world;
  const { client } = tables;
  const [service, outbox] = [tables.table('service'), tables.table('outbox')];
  const [deliveries, ledgerTable] = [tables.table('deliveries'), tables.table('ledger')];
  const ledger = code.ledgerStore(ledgerTable);
  const endpoints = code.endpointStore(service);
  const inHour = code.deliveriesInHour(deliveries);
  const standingOf = code.readOrganizationState(service);
  const contextsOf = code.deliveryContexts(service, outbox);
  const rowsOf = code.outboxStore(outbox);
  const { moves, due } = {
    moves: code.deliveryMoves(deliveries, {
      service,
      outbox,
      commit: code.committer(client),
      graceSeconds: terms.graceSeconds,
    }),
    due: code.dueIndex(deliveries),
  };

  /** As many entries of all shards as a page has: runs of the reconciler would be much longer otherwise. */
  const find: OwnStores['due']['find'] = async (state, _, until, after) => {
    const pages = await Promise.all(
      code.listShards(code.DUE_SHARDS).map((shard) => due.find(state, shard, until)),
    );
    const entries = pages
      .flatMap((page) => page.entries)
      .filter((entry) => after === undefined || placeOf(entry) > String(after.place))
      .toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
    const page = entries.slice(0, world.duePage);
    const last = page.at(-1);
    const isAll = last === undefined || page.length === entries.length;
    return { entries: page, ...(isAll ? {} : { next: { place: placeOf(last) } }) };
  };

  const remains = (name: TableName) => {
    const rows = code.hasRows(tables.table(name));
    return {
      find: (...[tenant, limit]: Parameters<typeof rows.find>) =>
        rows.find(tenant, Math.min(limit, sandboxTables.pageSize)),
      remove: rows.remove,
    };
  };

  return {
    engine: code,
    lanes: 'markStalled' in endpoints ? LANES : LANES_BEFORE,
    deliveries: { ...code.deliveryStore(deliveries), ...moves },
    // No endpoint has a limit here, which the previous version would not keep.
    schedules: new MemoryRateSchedules(),
    endpoints,
    due: { ...due, find },
    ledger: {
      add: ledger.add,
      correct: ledger.correct,
      async inHour(hour) {
        const pages = await Promise.all(
          code.listShards(code.LEDGER_SHARDS).map((shard) => ledger.inHour(hour, shard)),
        );
        return { entries: pages.flatMap(({ entries }) => entries) };
      },
    },
    rows: {
      async inHour(entry) {
        const pages = await Promise.all(
          code.listShards(code.DELIVERY_SHARDS).map((shard) => inHour(entry, shard)),
        );
        return { deliveries: pages.flatMap((page) => page.deliveries) };
      },
    },
    purges: code.purgeStore(service),
    remains: Object.fromEntries(NAMES.map((name) => [name, remains(name)])) as OwnStores['remains'],
    // Earlier versions take the URLs as an object.
    queues: code.deliveryQueues(
      lanesClient(world),
      Object.assign((lane: Lane) => LANE_URLS[lane], LANE_URLS),
      () => process.now(),
    ),
    standing: standingOf,
    contexts: contextsOf,
    owed(entry) {
      const owed = code.parseOutboxRecord(imageOf(entry));
      if (owed === undefined) throw new TypeError('an entry of the outbox has no work item');
      return owed;
    },
    async find(entry) {
      const { pk, sk } = imageOf(entry);
      const row = await rowsOf.find({ pk: String(pk), sk: String(sk) });
      // A delivery whose event body is missing in the table was processed before.
      return row || !entry.isPurged ? code.parseOutboxRecord(row ?? imageOf(entry)) : undefined;
    },
    changes: (records) =>
      records.map(({ value, sequence }) => ({
        kind: value.kind,
        delivery: code.parseDelivery(imageOf(value)),
        sequence: String(sequence),
      })),
    reminder(message: DeliveryMessage) {
      const { success, data } = code.DeliveryMessage.safeParse(message);
      return success ? data : undefined;
    },
  };
}

/** By time; those of one time in some order. */
const placeOf = ({ dueAt, message: reminder }: DueEntry): string => `${dueAt}/${reminder.id}`;
