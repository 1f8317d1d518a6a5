import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { newId, type OrgId, type ReceiverId } from '../../../functions/aws/ids.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import type { AttemptPorts } from '../../../functions/delivery/attempt.ts';
import { deliveryMoves, deliveryStore } from '../../../functions/delivery/deliveries.ts';
import { dueIndex } from '../../../functions/delivery/delivery-rows.ts';
import type { TurnPorts } from '../../../functions/delivery/endpoint-turns.ts';
import type { FanOutPorts } from '../../../functions/delivery/fan-out.ts';
import { ledgerStore } from '../../../functions/delivery/ledger.ts';
import type { AuditLedgerPorts, DeliveryStreamPorts } from '../../../functions/delivery/ledger-updates.ts';
import type { ReconcilePorts } from '../../../functions/delivery/reconcile.ts';
import { DEFAULT_GRACE_SECONDS } from '../../../functions/delivery/timing.ts';
import { Notice, type NoticeType } from '../../../functions/events/bus.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { endpointStore } from '../../../functions/receivers/endpoints.ts';
import { rateScheduleStore } from '../../../functions/receivers/rate-schedules.ts';
import { type AuditEntry, auditLogReader } from '../../../functions/tenancy/audit.ts';
import { createSandbox, sandboxStore } from '../../../functions/tenancy/organizations.ts';
import type { Tenant } from '../../../functions/tenancy/tenant.ts';
import { aSandboxTenant, later, NOW } from '../../builders.ts';
import { MemoryDeliveries } from '../../doubles/memory-deliveries.ts';
import { MemoryDueIndex } from '../../doubles/memory-due-index.ts';
import { MemoryEndpoints } from '../../doubles/memory-endpoints.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';
import { changingEndpoints } from './endpoint-changes.ts';

/** The stores behind the engine's ports, of either kind. */
export interface Stores {
  deliveries: AttemptPorts['deliveries'] & FanOutPorts['deliveries'] & TurnPorts['deliveries'];
  schedules: TurnPorts['schedules'];
  endpoints: AttemptPorts['endpoints'] &
    FanOutPorts['subscribers'] & {
      put(endpoint: Endpoint): Promise<void>;
      remove(orgId: OrgId, id: ReceiverId): Promise<void>;
    };
  due: ReconcilePorts['due'] & DeliveryStreamPorts['due'];
  ledger: DeliveryStreamPorts['ledger'] &
    AuditLedgerPorts['ledger'] &
    Pick<ReturnType<typeof ledgerStore>, 'read'>;
  /** The sandbox of a new live organization. */
  sandbox(): Promise<{
    tenant: Tenant;
    /** Moves it to its next generation. */
    reset(): Promise<void>;
  }>;
  /** The notices in the outbox about disabled endpoints. */
  notices(): Promise<Notice[]>;
  /** The entries of an organization's audit log. */
  auditEntries(orgId: OrgId): Promise<AuditEntry[]>;
  /** The warnings in the outbox about failing endpoints. */
  warnings(): Promise<Notice[]>;
}

/** A sandbox as an organization row. */
export const SANDBOX_ORGANIZATION = {
  name: 'Sandbox',
  environment: 'sandbox',
  tier: 'sandbox',
  createdAt: NOW.toISOString(),
} as const;

/** All kinds of stores, new for each test. */
export function storeKinds(engine = dynamoDb()): [name: string, make: () => Promise<Stores>][] {
  return [
    ['memory', async () => memoryStores()],
    ['dynamodb', async () => dynamoDbStores(await engine.tables())],
    ['tables in memory', async () => dynamoDbStores(memoryTables())],
  ];
}

function memoryStores(): Stores {
  const rows = new MemoryEndpoints();
  const states = memoryOrganizationStates();
  const deliveries = new MemoryDeliveries(rows, DEFAULT_GRACE_SECONDS, states);
  return {
    deliveries,
    endpoints: {
      find: (orgId, id) => rows.find(orgId, id),
      all: (orgId) => rows.all(orgId),
      setPace: (...given) => rows.setPace(...given),
      put: async (endpoint) => rows.put(endpoint),
      remove: async (orgId, id) => rows.remove(orgId, id),
    },
    schedules: rateScheduleStore(memoryTables().rates),
    due: new MemoryDueIndex(deliveries, { sharded: true }),
    ledger: ledgerStore(memoryTables().ledger),
    async sandbox() {
      const orgId = newId('org', NOW);
      states.makeSandbox(orgId);
      return { tenant: aSandboxTenant({ orgId }), reset: async () => void states.reset(orgId) };
    },
    notices: async () => deliveries.notices,
    auditEntries: async (orgId) => deliveries.entries.filter((entry) => entry.orgId === orgId),
    warnings: async () => deliveries.warnings,
  };
}

export function dynamoDbStores({ service, outbox, deliveries, ledger, rates }: TestTables): Stores {
  const commit = committer(service.client);
  const store = endpointStore(service);
  const noticesOf = async (wanted: NoticeType) => {
    const { Items = [] } = await outbox.client.send(
      new ScanCommand({ TableName: outbox.name, ConsistentRead: true }),
    );
    return Items.filter(({ type }) => type === wanted).map((row) => Notice.parse(row));
  };
  return {
    deliveries: {
      ...deliveryStore(deliveries),
      ...deliveryMoves(deliveries, { service, outbox, commit, graceSeconds: DEFAULT_GRACE_SECONDS }),
    },
    endpoints: {
      find: (orgId, id) => store.find(orgId, id),
      all: (orgId) => store.all(orgId),
      setPace: (...given) => store.setPace(...given),
      put: async (endpoint) => void (await commit(store.add(endpoint))),
      remove: async (orgId, id) => void (await changingEndpoints(service).remove(orgId, id, NOW)),
    },
    schedules: rateScheduleStore(rates),
    due: dueIndex(deliveries),
    ledger: ledgerStore(ledger),
    async sandbox() {
      const sandboxes = sandboxStore(service);
      const made = createSandbox(newId('org', NOW), NOW);
      await commit(sandboxes.create(made.pairing, made.sandbox, SANDBOX_ORGANIZATION));
      let { generation } = made.sandbox;
      return {
        tenant: { orgId: made.sandbox.id, generation },
        async reset() {
          await commit([sandboxes.nextGeneration({ orgId: made.sandbox.id, generation }, NOW)]);
          generation += 1;
        },
      };
    },
    async auditEntries(orgId) {
      return (await auditLogReader(service)(orgId, { limit: 100 }, {}, later(NOW, 86_400_000))).items;
    },
    notices: () => noticesOf('webhook.disabled'),
    warnings: () => noticesOf('webhook.failing'),
  };
}
