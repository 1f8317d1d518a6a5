import type { OrgId } from '../../../functions/aws/ids.ts';
import type { Key, Table } from '../../../functions/aws/table.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import type { SendAttempt } from '../../../functions/delivery/delivery.ts';
import { dueIndex } from '../../../functions/delivery/due-index.ts';
import { fanOut } from '../../../functions/delivery/fan-out.ts';
import { ledgerStore } from '../../../functions/delivery/ledger.ts';
import { processDeliveryStream } from '../../../functions/delivery/ledger-updates.ts';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import { deliveryStore } from '../../../functions/delivery/rows.ts';
import type { BusEvent } from '../../../functions/events/bus.ts';
import { meterUsage, usageMeter } from '../../../functions/events/usage.ts';
import { processEach } from '../../../functions/events/worker.ts';
import { checkSource } from '../../../functions/knowledge/check-source.ts';
import { checkSlots, sourceChecks } from '../../../functions/knowledge/source-checks.ts';
import { sourceStore } from '../../../functions/knowledge/sources.ts';
import { MAIL_BUDGETS } from '../../../functions/notices/mail.ts';
import { mailBudgets, mailingStore } from '../../../functions/notices/mailings.ts';
import { notifyAdmins } from '../../../functions/notices/notify.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { endpointStore } from '../../../functions/receivers/endpoints.ts';
import { redeliveryJobs, redeliveryRounds } from '../../../functions/redelivery/jobs.ts';
import { runRedeliveryJob } from '../../../functions/redelivery/redeliver.ts';
import { gate } from '../../../functions/tenancy/gate.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import {
  createSandbox,
  organizationStates,
  organizationStore,
  readOrganizationState,
  sandboxStore,
} from '../../../functions/tenancy/organizations.ts';
import type { Tenant } from '../../../functions/tenancy/tenant.ts';
import {
  aBusEvent,
  aDelivery,
  anEndpoint,
  anEvent,
  anOrganization,
  aRedeliveryJob,
  aSource,
  aTenant,
  NOW,
} from '../../builders.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import type { TestTables } from '../../engines.ts';
import { rowsIn } from './rows.ts';
import { aDispatcher, SANDBOX_ORGANIZATION } from './stores.ts';

/** A row that one part of a batch needs. */
export interface NeededRow {
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

export interface BatchKind {
  /** The worker, and the row that is broken. */
  name: string;
  make(tables: TestTables): Promise<BatchOfTen>;
  /** The outcome of a part whose row is absent. */
  absent: { again: boolean; done: boolean };
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

/** A batch of a worker behind the bus. */
const behindTheBus = (
  orgIds: OrgId[],
  rows: NeededRow[],
  events: readonly BusEvent[],
  worker: (events: readonly BusEvent[]) => Promise<readonly BusEvent[]>,
  done: BatchOfTen['done'],
): BatchOfTen => ({
  orgIds,
  rows,
  run: async () => (await worker(events)).map(({ orgId }) => orgId),
  done,
});

const eachAlone = (processMessage: (event: BusEvent) => Promise<void>) => {
  const run = processEach(processMessage, recordedLog());
  return async (events: readonly BusEvent[]) => (await run(events)).map(({ event }) => event);
};

async function setUpMeter(tables: TestTables): Promise<BatchOfTen> {
  const all = await organizations(tables);
  const run = meterUsage({
    gate: gate(organizationStates(readOrganizationState(tables.service)).of),
    usage: usageMeter(tables.usage),
    log: recordedLog(),
  });
  return behindTheBus(
    all.map(({ orgId }) => orgId),
    all.map((each) => ROWS.organization(tables, each)),
    all.map(({ tenant }) => aBusEvent(tenant)),
    run,
    async () => (await rowsIn(tables.usage)).filter(({ month }) => month).map(({ orgId }) => orgId as OrgId),
  );
}

async function setUpCheck(tables: TestTables): Promise<BatchOfTen> {
  const { service, knowledge, outbox } = tables;
  const commit = committer(knowledge.client);
  const all = await organizations(tables);
  const looked: OrgId[] = [];
  const sources = await Promise.all(
    all.map(async ({ orgId }) => {
      const source = aSource({ orgId });
      await commit(sourceStore(knowledge).add(source));
      return source;
    }),
  );
  const run = checkSource(
    {
      sources: sourceChecks(knowledge, outbox, commit),
      slots: checkSlots(knowledge, 5),
      organizations: organizationStore(service),
      organizationStates: organizationStates(readOrganizationState(service)),
      async fetchContent({ orgId }) {
        looked.push(orgId);
        return { kind: 'fetched', text: 'one two' };
      },
      onChecked: () => undefined,
      log: recordedLog(),
      now,
      random: () => 0,
    },
    { checkEverySeconds: 3600, leaseSeconds: 75 },
  );
  return behindTheBus(
    all.map(({ orgId }) => orgId),
    sources.map((source) => ({ table: knowledge, key: { ...keys.source(source, source.id) } })),
    sources.map(({ id, orgId, generation }) =>
      aBusEvent({ type: 'source.check', orgId, generation, data: { sourceId: id } }),
    ),
    eachAlone(run),
    async () => looked,
  );
}

async function setUpRedelivery(tables: TestTables): Promise<BatchOfTen> {
  const { service, deliveries } = tables;
  const commit = committer(service.client);
  const jobs = redeliveryJobs(service);
  const all = await organizations(tables);
  const started = await Promise.all(
    all.map(async ({ orgId, endpoint }) => {
      const job = aRedeliveryJob({
        orgId,
        webhookId: endpoint.id as Extract<Endpoint['id'], `whk_${string}`>,
      });
      await commit(jobs.start(job));
      return job;
    }),
  );
  const run = runRedeliveryJob(
    {
      tables,
      jobs: redeliveryRounds(tables, commit),
      // No dispatcher attempts them.
      deliveries: { ...deliveryStore(deliveries), listWaiting: async () => [] },
      endpoints: endpointStore(service),
      queues: { send: async () => [] },
      rounds: { send: async () => [] },
      wait: async () => undefined,
      organizations: organizationStates(readOrganizationState(service)),
      log: recordedLog(),
      now,
    },
    { leaseSeconds: 40, roundSeconds: 60, pageSize: 100, window: 16 },
  );
  return behindTheBus(
    all.map(({ orgId }) => orgId),
    all.map((each) => ROWS.endpoint(tables, each)),
    started.map(({ id: redeliveryId, webhookId, orgId, generation }) =>
      aBusEvent({
        type: 'webhook.redelivery',
        orgId,
        generation,
        data: { webhookId, redeliveryId, round: 1 },
      }),
    ),
    eachAlone(run),
    async () => {
      const stored = await Promise.all(started.map((job) => jobs.find(job, job.webhookId, job.id)));
      return stored.flatMap((job) => (job?.status === 'done' ? [job.orgId] : []));
    },
  );
}

async function setUpNotify(tables: TestTables): Promise<BatchOfTen> {
  const { service, knowledge, mailings } = tables;
  const all = await organizations(tables);
  const sent: OrgId[] = [];
  const run = notifyAdmins(
    {
      gate: gate(organizationStates(readOrganizationState(service)).of),
      organizations: organizationStore(service),
      endpoints: endpointStore(service),
      sources: sourceStore(knowledge),
      mailings: mailingStore(mailings),
      budgets: mailBudgets(mailings, MAIL_BUDGETS),
      directory: { adminsOf: async () => ['ada@example.com'] },
      mailer: {
        async send(_mail, { orgId }) {
          sent.push(orgId);
          return { kind: 'sent' };
        },
      },
      count: () => undefined,
      log: recordedLog(),
      now,
    },
    { dashboardOrigin: 'https://dashboard.example.com', noticeSeconds: 86_400, leaseSeconds: 60 },
  );
  const disabling = ({ orgId, generation }: Tenant, { id: webhookId }: Endpoint) =>
    aBusEvent({
      type: 'webhook.disabled',
      orgId,
      generation,
      data: { webhookId, disabledAt: NOW.toISOString(), lastError: 'timeout' },
    });
  return behindTheBus(
    all.map(({ orgId }) => orgId),
    all.map((each) => ROWS.endpoint(tables, each)),
    all.map(({ tenant, endpoint }) => disabling(tenant, endpoint)),
    eachAlone(run),
    async () => sent,
  );
}

const AGAIN = { again: true, done: false };
const DROPPED = { again: false, done: false };
const DONE = { again: false, done: true };

export const BATCHES: readonly BatchKind[] = [
  { name: 'dispatch, organization', make: setUpDispatch('organization'), absent: AGAIN },
  { name: 'dispatch, endpoint', make: setUpDispatch('endpoint'), absent: DROPPED },
  { name: 'dispatch, event', make: setUpDispatch('event'), absent: DROPPED },
  { name: 'fan-out, organization', make: fanningOut('organization'), absent: AGAIN },
  { name: 'fan-out, endpoint', make: fanningOut('endpoint'), absent: DROPPED },
  { name: 'delivery-stream, organization', make: setUpDeliveryStream, absent: DROPPED },
  { name: 'meter, organization', make: setUpMeter, absent: AGAIN },
  { name: 'check-source, source', make: setUpCheck, absent: DROPPED },
  { name: 'redeliver, endpoint', make: setUpRedelivery, absent: DROPPED },
  { name: 'notify, endpoint', make: setUpNotify, absent: DONE },
];
