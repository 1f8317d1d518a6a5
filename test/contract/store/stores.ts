import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { DEFAULT_GRACE_SECONDS } from '../../../functions/domain/due.ts';
import { DisablingNotice, type Endpoint } from '../../../functions/domain/endpoint.ts';
import type { EndpointId, OrgId } from '../../../functions/domain/ids.ts';
import type { AuditPorts } from '../../../functions/engine/audit.ts';
import type { DispatchPorts } from '../../../functions/engine/dispatch.ts';
import type { FanOutPorts } from '../../../functions/engine/fan-out.ts';
import type { ReconcilePorts } from '../../../functions/engine/reconcile.ts';
import type { WatchPorts } from '../../../functions/engine/watch.ts';
import { deliveryStore } from '../../../functions/store/deliveries.ts';
import { deliveryMoves } from '../../../functions/store/delivery-moves.ts';
import { dueIndex } from '../../../functions/store/due-index.ts';
import { endpointStore } from '../../../functions/store/endpoints.ts';
import { ledgerStore } from '../../../functions/store/ledger.ts';
import { committer } from '../../../functions/store/transaction.ts';
import { MemoryDeliveries } from '../../doubles/memory-deliveries.ts';
import { MemoryDueIndex } from '../../doubles/memory-due-index.ts';
import { MemoryEndpoints } from '../../doubles/memory-endpoints.ts';
import { MemoryLedger } from '../../doubles/memory-ledger.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';

/** What the engine's ports are made of, whichever kind it is. */
export interface Stores {
  deliveries: DispatchPorts['deliveries'] & FanOutPorts['deliveries'];
  endpoints: DispatchPorts['endpoints'] &
    FanOutPorts['subscribers'] & {
      put(endpoint: Endpoint): Promise<void>;
      remove(orgId: OrgId, id: EndpointId): Promise<void>;
    };
  due: ReconcilePorts['due'] & WatchPorts['due'];
  ledger: WatchPorts['ledger'] & AuditPorts['ledger'] & Pick<ReturnType<typeof ledgerStore>, 'read'>;
  /** The orders that the outbox holds to tell admins of a disabling. */
  notices(): Promise<DisablingNotice[]>;
}

/** Both kinds of stores, each made anew for a test. */
export function storeKinds(engine = dynamoDb()): [name: string, make: () => Promise<Stores>][] {
  return [
    ['memory', async () => memoryStores()],
    ['dynamodb', async () => dynamoDbStores(await engine.tables())],
  ];
}

function memoryStores(): Stores {
  const rows = new MemoryEndpoints();
  const deliveries = new MemoryDeliveries(rows);
  return {
    deliveries,
    endpoints: {
      find: (orgId, id) => rows.find(orgId, id),
      all: (orgId) => rows.all(orgId),
      markSlow: (orgId, id, until) => rows.markSlow(orgId, id, until),
      put: async (endpoint) => rows.put(endpoint),
      remove: async (orgId, id) => rows.remove(orgId, id),
    },
    due: new MemoryDueIndex(deliveries, { sharded: true }),
    ledger: new MemoryLedger(),
    notices: async () => deliveries.notices,
  };
}

export function dynamoDbStores({ service, outbox, deliveries, ledger }: TestTables): Stores {
  const commit = committer(service.client);
  const store = endpointStore(service);
  return {
    deliveries: {
      ...deliveryStore(deliveries),
      ...deliveryMoves(deliveries, { service, outbox, commit, graceSeconds: DEFAULT_GRACE_SECONDS }),
    },
    endpoints: {
      find: (orgId, id) => store.find(orgId, id),
      all: (orgId) => store.all(orgId),
      markSlow: (orgId, id, until) => store.markSlow(orgId, id, until),
      put: async (endpoint) => void (await commit(store.add(endpoint))),
      remove: async (orgId, id) => void (await commit(store.remove(orgId, id))),
    },
    due: dueIndex(deliveries),
    ledger: ledgerStore(ledger),
    async notices() {
      const { Items = [] } = await outbox.client.send(
        new ScanCommand({ TableName: outbox.name, ConsistentRead: true }),
      );
      return Items.filter(({ kind }) => kind === 'endpoint-disabled').map((row) =>
        DisablingNotice.parse(row),
      );
    },
  };
}
