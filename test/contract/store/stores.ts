import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { newId, type OrgId, type ReceiverId } from '../../../functions/aws/ids.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import { dispatcher } from '../../../functions/delivery/dispatch.ts';
import { dueIndex } from '../../../functions/delivery/due-index.ts';
import { ledgerStore } from '../../../functions/delivery/ledger.ts';
import { deliveryMoves, deliveryStore } from '../../../functions/delivery/rows.ts';
import { settlements } from '../../../functions/delivery/settle.ts';
import {
  DEFAULT_GRACE_SECONDS,
  DEFAULT_RETRY_POLICY,
  MAX_ATTEMPTS,
} from '../../../functions/delivery/timing.ts';
import { rateScheduleStore } from '../../../functions/delivery/turns.ts';
import { Notice, type NoticeType } from '../../../functions/events/bus.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { type AuditEntry, auditLogReader } from '../../../functions/tenancy/audit.ts';
import {
  createSandbox,
  organizationStates,
  readOrganizationState,
  sandboxStore,
} from '../../../functions/tenancy/organizations.ts';
import { later, NOW } from '../../builders.ts';
import { noMeasures } from '../../doubles/no-measures.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';
import { changingEndpoints } from './endpoint-changes.ts';

/** A sandbox as an organization row. */
export const SANDBOX_ORGANIZATION = {
  name: 'Sandbox',
  environment: 'sandbox',
  tier: 'sandbox',
  createdAt: NOW.toISOString(),
} as const;

/** The stores over tables that are new each time. */
export const newStores =
  (engine = dynamoDb()) =>
  async (): Promise<Stores> =>
    dynamoDbStores(await engine.tables());

export type Stores = ReturnType<typeof dynamoDbStores>;

/** The stores of the engine. */
export function dynamoDbStores(tables: TestTables) {
  const { service, outbox, deliveries, ledger, rates } = tables;
  const commit = committer(service.client);
  const endpoints = changingEndpoints(service);
  const log = recordedLog();
  const terms = {
    graceSeconds: DEFAULT_GRACE_SECONDS,
    maxAttempts: MAX_ATTEMPTS,
    commitSeconds: 20,
    measures: noMeasures,
    log,
  };
  const noticesOf = async (wanted: NoticeType): Promise<Notice[]> => {
    const { Items = [] } = await outbox.client.send(
      new ScanCommand({ TableName: outbox.name, ConsistentRead: true }),
    );
    return Items.filter(({ kind, type }) => kind === 'notice' && type === wanted).map((row) =>
      Notice.parse(row),
    );
  };
  return {
    tables,
    deliveries: {
      ...deliveryStore(deliveries),
      ...deliveryMoves(deliveries),
      ...settlements(tables, terms),
    },
    /** The log of settlements. */
    log,
    endpoints: {
      ...endpoints,
      put: async (endpoint: Endpoint) => void (await commit(endpoints.add(endpoint))),
      remove: async (orgId: OrgId, id: ReceiverId) => void (await endpoints.remove(orgId, id, NOW)),
    },
    schedules: rateScheduleStore(rates),
    due: dueIndex(deliveries),
    ledger: ledgerStore(ledger),
    /** The sandbox of a new live organization. */
    async sandbox() {
      const sandboxes = sandboxStore(service);
      const made = createSandbox(newId('org', NOW), NOW);
      await commit(sandboxes.create(made.pairing, made.sandbox, SANDBOX_ORGANIZATION));
      let { generation } = made.sandbox;
      return {
        tenant: { orgId: made.sandbox.id, generation },
        /** Moves it to its next generation. */
        async reset() {
          await commit([sandboxes.nextGeneration({ orgId: made.sandbox.id, generation }, NOW)]);
          generation += 1;
        },
      };
    },
    /** The entries of an organization's audit log. */
    async auditEntries(orgId: OrgId): Promise<AuditEntry[]> {
      return (await auditLogReader(service)(orgId, { limit: 100 }, {}, later(NOW, 86_400_000))).items;
    },
    /** The notices in the outbox about disabled endpoints. */
    notices: () => noticesOf('webhook.disabled'),
    /** The warnings in the outbox about failing endpoints. */
    warnings: () => noticesOf('webhook.failing'),
  };
}

type DispatcherPorts = Parameters<typeof dispatcher>[1];

/** The dispatcher over tables, whose queues forget their messages by default, and without waits. */
export const aDispatcher = (
  tables: TestTables,
  {
    send = async () => [],
    ...ports
  }: Pick<DispatcherPorts, 'prepareSend' | 'log' | 'now'> &
    Partial<Pick<DispatcherPorts, 'organizations'>> & { send?: DispatcherPorts['queues']['send'] },
) =>
  dispatcher(
    tables,
    {
      organizations: organizationStates(readOrganizationState(tables.service)),
      queues: { send, hide: async () => undefined, crowded: async () => false },
      measures: noMeasures,
      wait: async () => undefined,
      ...ports,
    },
    {
      retry: DEFAULT_RETRY_POLICY,
      leaseSeconds: 25,
      attemptSeconds: 10,
      graceSeconds: DEFAULT_GRACE_SECONDS,
    },
  );
