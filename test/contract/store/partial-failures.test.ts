import { describe, expect, it } from 'vitest';
import type { OrgId } from '../../../functions/aws/ids.ts';
import { type Key, put, remove, type Table } from '../../../functions/aws/table.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import type { SendAttempt } from '../../../functions/delivery/delivery.ts';
import { dueIndex } from '../../../functions/delivery/due-index.ts';
import { fanOut } from '../../../functions/delivery/fan-out.ts';
import { ledgerStore } from '../../../functions/delivery/ledger.ts';
import { processDeliveryStream } from '../../../functions/delivery/ledger-updates.ts';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import { deliveryStore } from '../../../functions/delivery/rows.ts';
import { meterUsage, usageMeter } from '../../../functions/events/usage.ts';
import { endpointStore } from '../../../functions/receivers/endpoints.ts';
import { gate } from '../../../functions/tenancy/gate.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import {
  createSandbox,
  organizationStates,
  organizationStore,
  readOrganizationState,
  sandboxStore,
} from '../../../functions/tenancy/organizations.ts';
import { aBusEvent, aDelivery, anEndpoint, anEvent, anOrganization, aTenant, NOW } from '../../builders.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';
import { refuseItems } from './faults.ts';
import { rowsIn } from './rows.ts';
import { aDispatcher, SANDBOX_ORGANIZATION } from './stores.ts';

const engine = dynamoDb();

/*
 * Workers that process a batch as a whole. Those that process one message after the other need no row of
 * another message.
 */

/** A row that one part of a batch needs. */
interface NeededRow {
  table: Table;
  key: Key;
}

/** Ten parts of a batch, each of another organization. */
interface BatchOfTen {
  /** The row of each part that a test breaks. */
  rows: NeededRow[];
  /**
   * Processes the batch.
   * @returns the organizations whose part has to be retried
   */
  run(): Promise<OrgId[]>;
  /** The organizations whose part had its effect. */
  done(): Promise<OrgId[]>;
  /** All organizations, in the order of the rows. */
  orgIds: OrgId[];
}

const now = () => NOW;
const TEN = Array.from({ length: 10 });

/** Ten live organizations, each with an endpoint and an event. */
async function organizations({ service, outbox }: TestTables) {
  const commit = committer(service.client);
  return Promise.all(
    TEN.map(async () => {
      const tenant = aTenant();
      const endpoint = anEndpoint({ orgId: tenant.orgId });
      const event = anEvent({ tenant });
      await commit([
        organizationStore(service).add(anOrganization({ id: tenant.orgId })),
        ...endpointStore(service).add(endpoint),
        outboxStore(outbox).append(event),
      ]);
      return { tenant, orgId: tenant.orgId, endpoint, event };
    }),
  );
}
type Ours = Awaited<ReturnType<typeof organizations>>[number];

const ROWS = {
  organization: ({ service }: TestTables, { orgId }: { orgId: OrgId }) => ({
    table: service,
    key: { ...keys.organization(orgId) },
  }),
  endpoint: ({ service }: TestTables, { orgId, endpoint }: Ours) => ({
    table: service,
    key: { ...keys.endpoint(orgId, endpoint.id) },
  }),
  event: ({ outbox }: TestTables, { event }: Ours) => ({
    table: outbox,
    key: { ...keys.event(event, event.id) },
  }),
};

const setUpDispatch =
  (row: keyof typeof ROWS) =>
  async (tables: TestTables): Promise<BatchOfTen> => {
    const all = await organizations(tables);
    const attempted: OrgId[] = [];
    const send: SendAttempt = async ({ orgId }) => {
      attempted.push(orgId);
      return { status: 204 };
    };
    const run = aDispatcher(tables, { prepareSend: async () => send, log: recordedLog(), now });
    const messages = await Promise.all(
      all.map(async ({ tenant, endpoint, event }) => {
        const delivery = aDelivery({ ...tenant, webhookId: endpoint.id, eventId: event.id });
        await deliveryStore(tables.deliveries).add(delivery);
        return { message: delivery, receiptHandle: delivery.id };
      }),
    );
    return {
      orgIds: all.map(({ orgId }) => orgId),
      rows: all.map((each) => ROWS[row](tables, each)),
      run: async () =>
        (await run('fresh', messages)).map(({ message: deliveryMessage }) => deliveryMessage.orgId),
      done: async () => attempted,
    };
  };

const fanningOut =
  (row: 'organization' | 'endpoint') =>
  async (tables: TestTables): Promise<BatchOfTen> => {
    const all = await organizations(tables);
    const sent: OrgId[] = [];
    const run = fanOut({
      subscribers: endpointStore(tables.service),
      deliveries: deliveryStore(tables.deliveries),
      organizations: organizationStates(readOrganizationState(tables.service)),
      queues: {
        async send(_lane, messages) {
          sent.push(...messages.map(({ message: deliveryMessage }) => deliveryMessage.orgId));
          return [];
        },
      },
      log: recordedLog(),
      now,
    });
    return {
      orgIds: all.map(({ orgId }) => orgId),
      rows: all.map((each) => ROWS[row](tables, each)),
      async run() {
        const failed = await run(all.map(({ event }) => ({ kind: 'event', event })));
        return failed.flatMap((item) => (item.kind === 'event' ? [item.event.orgId] : []));
      },
      done: async () => sent,
    };
  };

/** Changes in sandboxes, because those in live organizations read no organization row. */
async function setUpDeliveryStream(tables: TestTables): Promise<BatchOfTen> {
  const { service, deliveries, ledger } = tables;
  const log = recordedLog();
  const all = await Promise.all(
    TEN.map(async () => {
      const { pairing, sandbox } = createSandbox(aTenant().orgId, NOW);
      await committer(service.client)(sandboxStore(service).create(pairing, sandbox, SANDBOX_ORGANIZATION));
      const delivery = aDelivery({ orgId: sandbox.id, generation: sandbox.generation });
      await deliveryStore(deliveries).add(delivery);
      return { orgId: sandbox.id, delivery };
    }),
  );
  const run = processDeliveryStream(
    {
      due: dueIndex(deliveries),
      ledger: ledgerStore(ledger),
      organizations: organizationStates(readOrganizationState(service)),
      log,
      now,
    },
    { graceSeconds: 60 },
  );
  const done = async () => (await rowsIn(ledger)).map(({ orgId }) => orgId as OrgId);
  return {
    orgIds: all.map(({ orgId }) => orgId),
    rows: all.map((each) => ROWS.organization(tables, each)),
    /** The stream repeats the whole batch, of which only uncounted changes are new. */
    async run() {
      const changes = all.map(({ delivery }, index) => ({
        kind: 'added' as const,
        delivery,
        sequence: String(index + 1),
      }));
      const failed = await run('shard', changes).then(
        () => false,
        () => true,
      );
      const counted = await done();
      const unknown = log.entries
        .filter(({ code }) => code === 'TENANT_UNKNOWN')
        .map(({ fields }) => fields.orgId);
      return failed
        ? all
            .map(({ orgId }) => orgId)
            .filter((orgId) => !counted.includes(orgId) && !unknown.includes(orgId))
        : [];
    },
    done,
  };
}

async function setUpMeter(tables: TestTables): Promise<BatchOfTen> {
  const all = await organizations(tables);
  const run = meterUsage({
    gate: gate(organizationStates(readOrganizationState(tables.service)).of),
    usage: usageMeter(tables.usage),
    log: recordedLog(),
  });
  return {
    orgIds: all.map(({ orgId }) => orgId),
    rows: all.map((each) => ROWS.organization(tables, each)),
    run: async () => (await run(all.map(({ tenant }) => aBusEvent(tenant)))).map(({ orgId }) => orgId),
    done: async () =>
      (await rowsIn(tables.usage)).filter(({ month }) => month).map(({ orgId }) => orgId as OrgId),
  };
}

const AGAIN = { again: true, done: false };
const DROPPED = { again: false, done: false };

/** The worker, the row that is broken, and the outcome of a part whose row is absent. */
const BATCHES: readonly {
  name: string;
  make(tables: TestTables): Promise<BatchOfTen>;
  absent: { again: boolean; done: boolean };
}[] = [
  { name: 'dispatch, organization', make: setUpDispatch('organization'), absent: AGAIN },
  { name: 'dispatch, endpoint', make: setUpDispatch('endpoint'), absent: DROPPED },
  { name: 'dispatch, event', make: setUpDispatch('event'), absent: DROPPED },
  { name: 'fan-out, organization', make: fanningOut('organization'), absent: AGAIN },
  { name: 'fan-out, endpoint', make: fanningOut('endpoint'), absent: DROPPED },
  { name: 'delivery-stream, organization', make: setUpDeliveryStream, absent: DROPPED },
  { name: 'meter, organization', make: setUpMeter, absent: AGAIN },
];

const FAULTS = ['absent', 'unreadable', 'refused'] as const;
type Fault = (typeof FAULTS)[number];

/** Tables of their own, and the operations that break a row of them. */
async function breakableTables() {
  const client = engine.client();
  const tables = await engine.tables(client);
  const refused: NeededRow[] = [];
  refuseItems(client, (table, key) =>
    refused.some(
      (row) =>
        row.table.name === table &&
        row.key.pk === key.pk &&
        (key.sk === undefined || row.key.sk === undefined || row.key.sk === key.sk),
    ),
  );
  return {
    tables,
    async break(row: NeededRow | undefined, fault: Fault): Promise<void> {
      if (row === undefined) throw new Error('there is no such row');
      const { table, key } = row;
      if (fault === 'absent') await remove(table, key);
      if (fault === 'unreadable') await put(table, { ...key, generation: 'broken' });
      if (fault === 'refused') refused.push(row);
    },
  };
}

describe.each(BATCHES)('a batch of ten ($name)', ({ make, absent }) => {
  it.each<[Fault[]]>([[['absent']], [['unreadable']], [['refused']], [[...FAULTS]]])(
    'with a row that is %j processes the other parts at once',
    async (faults) => {
      const { tables, break: breakRow } = await breakableTables();
      const { orgIds, rows, run, done } = await make(tables);
      const broken = new Map<string, Fault>();
      for (const [index, fault] of faults.entries()) {
        await breakRow(rows[index * 3], fault);
        broken.set(String(orgIds[index * 3]), fault);
      }
      const expected = (what: 'again' | 'done') =>
        orgIds.filter((orgId) => {
          const fault = broken.get(orgId);
          if (fault === undefined) return what === 'done';
          return fault === 'absent' ? absent[what] : what === 'again';
        });

      const again = await run();

      expect(new Set(again)).toEqual(new Set(expected('again')));
      expect(new Set(await done())).toEqual(new Set(expected('done')));
    },
  );
});
