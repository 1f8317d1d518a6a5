import type { OrgId, ReceiverId } from '../../functions/aws/ids.ts';
import type { Table } from '../../functions/aws/table.ts';
import { Delivery, type DeliveryRef, OPEN_STATUSES } from '../../functions/delivery/delivery.ts';
import { dueIndex } from '../../functions/delivery/due-index.ts';
import { buildDeliveryKey, buildPlace, deliveryMoves, deliveryStore } from '../../functions/delivery/rows.ts';
import { settlements } from '../../functions/delivery/settle.ts';
import { DEFAULT_GRACE_SECONDS, MAX_ATTEMPTS } from '../../functions/delivery/timing.ts';
import { Notice } from '../../functions/events/bus.ts';
import { Endpoint, endpointStateStore } from '../../functions/receivers/endpoint.ts';
import { readEndpoint } from '../../functions/receivers/endpoints.ts';
import { type DueState, keys } from '../../functions/tenancy/keys.ts';
import { TABLE_DEFINITIONS, type TableName } from '../table-definitions.ts';
import { noMeasures } from './no-measures.ts';
import { recordedLog } from './recorded-log.ts';
import { type Interceptor, MemoryTables, type Written } from './tables/memory-tables.ts';

/** A delivery's entry in the due index. */
export interface Due {
  state: DueState;
  dueAt: string;
  isDeferred?: true;
}

/** A change as the table's stream has it. */
interface RowChange {
  kind: 'added' | 'ended';
  delivery: Delivery;
}

/** The service's tables in memory, with what tests read and change in them at once. */
export class MemoryService {
  readonly memory: MemoryTables;
  readonly tables: Record<TableName, Table>;
  /** Called for what each request has written. */
  written: (writes: readonly Written[]) => void = () => undefined;

  /** Passes each request on; tests replace it, for faults and for what happens between requests. */
  pass: Interceptor = async (_operation, _input, answer) => answer();

  constructor() {
    this.memory = new MemoryTables(TABLE_DEFINITIONS, { written: (writes) => this.written(writes) });
    const client = this.memory.client((operation, input, answer) => this.pass(operation, input, answer));
    const names = Object.keys(TABLE_DEFINITIONS) as TableName[];
    this.tables = Object.fromEntries(names.map((name) => [name, this.memory.table(name, client)])) as Record<
      TableName,
      Table
    >;
  }
}

/** The stores of endpoints over tables in memory. */
export class MemoryEndpoints {
  readonly service: MemoryService;
  readonly find: ReturnType<typeof readEndpoint>;
  readonly setPace: ReturnType<typeof endpointStateStore>['setPace'];

  constructor(service = new MemoryService()) {
    this.service = service;
    this.find = readEndpoint(service.tables.service);
    this.setPace = endpointStateStore(service.tables.service).setPace;
  }

  /** The current endpoint. */
  present(orgId: OrgId, id: ReceiverId): Endpoint | undefined {
    const row = this.service.memory.get('service', { ...keys.endpoint(orgId, id) });
    return row && Endpoint.parse(row);
  }

  async all(orgId: OrgId): Promise<Endpoint[]> {
    const { pk } = keys.endpoint(orgId, 'whk_');
    return this.service.memory
      .all('service')
      .filter((row) => row.pk === pk)
      .map((row) => Endpoint.parse(row));
  }

  put(endpoint: Endpoint): void {
    this.service.memory.put('service', { ...keys.endpoint(endpoint.orgId, endpoint.id), ...endpoint });
  }

  remove(orgId: OrgId, id: ReceiverId): void {
    this.service.memory.delete('service', { ...keys.endpoint(orgId, id) });
  }
}

/** The stores of deliveries over tables in memory. */
export function memoryDeliveries({ service }: MemoryEndpoints, graceSeconds = DEFAULT_GRACE_SECONDS) {
  const { memory, tables } = service;
  const stream: RowChange[] = [];
  service.written = (writes) => {
    for (const { table, before, after } of writes) {
      if (table !== 'deliveries' || after === undefined) continue;
      const delivery = Delivery.parse(after);
      if (before === undefined) stream.push({ kind: 'added', delivery });
      else if (!isOpen(delivery) && isOpen(Delivery.parse(before))) stream.push({ kind: 'ended', delivery });
    }
  };
  const terms = {
    graceSeconds,
    maxAttempts: MAX_ATTEMPTS,
    commitSeconds: 20,
    measures: noMeasures,
    log: recordedLog(),
  };
  const noticesOf = (wanted: Notice['type']): Notice[] =>
    memory
      .all('outbox')
      .filter(({ kind, type }) => kind === 'notice' && type === wanted)
      .map((row) => Notice.parse(row));

  /** The current delivery. */
  function present(ref: DeliveryRef): Delivery | undefined {
    const row = memory.get('deliveries', { ...buildDeliveryKey(ref) });
    return row && Delivery.parse(row);
  }

  return {
    ...deliveryStore(tables.deliveries),
    ...deliveryMoves(tables.deliveries),
    ...settlements(tables, terms),
    tables,
    /** Additions and ends in order. */
    stream,
    dueIndex: dueIndex(tables.deliveries),
    /** All deliveries, in the order of their addition. */
    get every(): Delivery[] {
      return stream.flatMap(({ kind, delivery }) => (kind === 'added' && present(delivery)) || []);
    },
    /** The entries of the due index. */
    get due(): { delivery: Delivery; due: Due }[] {
      return memory.all('deliveries').flatMap((row) => {
        const due = toDue(row);
        return due === undefined ? [] : [{ delivery: Delivery.parse(row), due }];
      });
    },
    present,
    dueOf: (ref: DeliveryRef) => toDue(memory.get('deliveries', { ...buildDeliveryKey(ref) })),
    /** Puts a delivery into the due index, as it would be after an attempt. */
    putDue(ref: Delivery, state: DueState, dueAt: Date): void {
      const row = memory.get('deliveries', { ...buildDeliveryKey(ref) });
      memory.put('deliveries', { ...row, ...buildPlace(state, ref, dueAt) });
    },
    /** Deletes a delivery, as a purge does. The stream has no record of it. */
    remove: (ref: DeliveryRef): void => memory.delete('deliveries', { ...buildDeliveryKey(ref) }),
    /** The notices that were committed when endpoints were disabled. */
    get notices(): Notice[] {
      return noticesOf('webhook.disabled');
    },
    /** The warnings that were committed when half as many failures were counted. */
    get warnings(): Notice[] {
      return noticesOf('webhook.failing');
    },
  };
}

const isOpen = ({ status }: Delivery): boolean => OPEN_STATUSES.some((open) => open === status);

function toDue(row: Record<string, unknown> | undefined): Due | undefined {
  if (row?.dueIn === undefined) return undefined;
  const dueAt = String(row.dueKey).split('#')[1] ?? '';
  const state = String(row.dueIn).startsWith('parked') ? 'parked' : 'watched';
  return { state, dueAt, ...(row.isDeferred === true && { isDeferred: true as const }) };
}
