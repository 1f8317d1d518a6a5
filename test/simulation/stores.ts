import type { DeliveryMessage } from '../../functions/domain/delivery.ts';
import type { EventId, OrgId } from '../../functions/domain/ids.ts';
import type { Lane } from '../../functions/domain/lanes.ts';
import type { OutboxWork } from '../../functions/domain/redelivery.ts';
import type { OrganizationState, Tenant } from '../../functions/domain/tenant.ts';
import type { AttemptPorts } from '../../functions/engine/attempt-delivery.ts';
import type { AuditLedgerPorts } from '../../functions/engine/audit-ledger.ts';
import type { DeliveryStreamPorts, SequencedChange } from '../../functions/engine/delivery-stream.ts';
import type { TurnPorts } from '../../functions/engine/endpoint-turns.ts';
import type { FanOutPorts } from '../../functions/engine/fan-out.ts';
import type { DeliveryMessagePorts } from '../../functions/engine/process-delivery-messages.ts';
import type { PurgePorts } from '../../functions/engine/purge.ts';
import type { ReconcilePorts } from '../../functions/engine/reconcile.ts';
import type { MemoryDeliveries, RowChange } from '../doubles/memory-deliveries.ts';
import type { MemoryEndpoints } from '../doubles/memory-endpoints.ts';
import type { MemoryLedger } from '../doubles/memory-ledger.ts';
import type { MemoryPurges } from '../doubles/memory-purges.ts';
import type { Engine } from './engine.ts';
import type { Entry } from './entries.ts';
import type { Process } from './processes.ts';
import type { StreamRecord } from './stream-shard.ts';
import type { TableName } from './table-names.ts';

/** The state of a world, as customers write it and as witnesses read it: without delay and without faults. */
export interface Stores {
  readonly endpoints: Pick<MemoryEndpoints, 'present' | 'put' | 'remove'>;
  readonly deliveries: Pick<
    MemoryDeliveries,
    'every' | 'due' | 'present' | 'dueOf' | 'add' | 'remove' | 'stream' | 'notices' | 'warnings'
  >;
  /** Whether some processes run a version that counts the fifth failure without a warning. */
  readonly mayMissWarnings: boolean;
  readonly ledger: Pick<MemoryLedger, 'every' | 'remove'>;
  readonly purges: Pick<MemoryPurges, 'every' | 'order' | 'has'>;
  /** Whether all processes run code that knows endpoints with a limit. */
  readonly keepLimits: boolean;
  /** An entry of the outbox is committed. */
  commit(entry: Entry): void;
  /** A call of the API has written a row of a sandbox that no function reads here. */
  record(tenant: Tenant, ...name: readonly (string | number)[]): void;
  /** An event's body goes missing. */
  lose(event: EventId): void;
  /** The ports of a process; it runs the same code for as long as it lives. */
  of(process: Process): OwnStores;
}

/** The stores of a process, according to the code that it runs. */
export interface OwnStores {
  readonly engine: Engine;
  /** The queues whose messages its dispatcher knows. */
  readonly lanes: readonly Lane[];
  readonly deliveries: AttemptPorts['deliveries'] & FanOutPorts['deliveries'] & TurnPorts['deliveries'];
  readonly schedules: TurnPorts['schedules'];
  readonly endpoints: AttemptPorts['endpoints'] & FanOutPorts['subscribers'];
  readonly queues: AttemptPorts['queues'] &
    DeliveryMessagePorts['queues'] &
    Pick<ReconcilePorts['queues'], 'backlog'>;
  readonly due: ReconcilePorts['due'] & DeliveryStreamPorts['due'];
  readonly ledger: DeliveryStreamPorts['ledger'] & AuditLedgerPorts['ledger'];
  readonly rows: AuditLedgerPorts['deliveries'];
  readonly purges: PurgePorts['purges'];
  readonly remains: Readonly<Record<TableName, PurgePorts['remains'][number]>>;
  standing(orgId: OrgId): Promise<OrganizationState | undefined>;
  contexts: DeliveryMessagePorts['contexts'];
  /** The work item in an entry of the outbox, by its record in the stream. */
  owed(entry: Entry): OutboxWork;
  /** The same, by its key. */
  find(entry: Entry): Promise<OutboxWork | undefined>;
  /** The changes in records of the deliveries' stream. */
  changes(records: readonly StreamRecord<RowChange>[]): SequencedChange[];
  /** The delivery that a message names; undefined when the message is unreadable. */
  reminder(message: DeliveryMessage): DeliveryMessage | undefined;
}
