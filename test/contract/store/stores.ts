import type { Endpoint } from '../../../functions/domain/endpoint.ts';
import type { EndpointId, OrgId } from '../../../functions/domain/ids.ts';
import type { DispatchPorts } from '../../../functions/engine/dispatch.ts';
import type { FanOutPorts } from '../../../functions/engine/fan-out.ts';
import { deliveryStore } from '../../../functions/store/deliveries.ts';
import { endpointStore } from '../../../functions/store/endpoints.ts';
import { committer } from '../../../functions/store/transaction.ts';
import { MemoryDeliveries } from '../../doubles/memory-deliveries.ts';
import { MemoryEndpoints } from '../../doubles/memory-endpoints.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';

/** What the engine's ports are made of, whichever kind it is. */
export interface Stores {
  deliveries: DispatchPorts['deliveries'] & FanOutPorts['deliveries'];
  endpoints: DispatchPorts['endpoints'] &
    FanOutPorts['subscribers'] & {
      put(endpoint: Endpoint): Promise<void>;
      remove(orgId: OrgId, id: EndpointId): Promise<void>;
    };
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
  return {
    deliveries: new MemoryDeliveries(rows),
    endpoints: {
      find: (orgId, id) => rows.find(orgId, id),
      all: (orgId) => rows.all(orgId),
      put: async (endpoint) => rows.put(endpoint),
      remove: async (orgId, id) => rows.remove(orgId, id),
    },
  };
}

export function dynamoDbStores({ service, deliveries }: TestTables): Stores {
  const commit = committer(service.client);
  const store = endpointStore(service);
  return {
    deliveries: deliveryStore(deliveries, service, commit),
    endpoints: {
      find: (orgId, id) => store.find(orgId, id),
      all: (orgId) => store.all(orgId),
      put: async (endpoint) => void (await commit(store.add(endpoint))),
      remove: async (orgId, id) => void (await commit(store.remove(orgId, id))),
    },
  };
}
