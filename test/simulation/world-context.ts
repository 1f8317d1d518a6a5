import type { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import type { DeliveryId, EventId, OrgId, ReceiverId } from '../../functions/aws/ids.ts';
import type { Delivery } from '../../functions/delivery/delivery.ts';
import type { Notice } from '../../functions/events/bus.ts';
import type { OutboxEvent } from '../../functions/events/events.ts';
import type { MemoryLanes } from '../doubles/memory-lanes.ts';
import type { Change, DeliveryStream } from './delivery-stream.ts';
import type { EndpointHistory } from './endpoint-history.ts';
import type { Entry } from './entries.ts';
import type { Faults } from './faults.ts';
import type { Organizations } from './organizations.ts';
import type { Processes } from './processes.ts';
import type { Program } from './programs.ts';
import type { Random } from './random.ts';
import type { Statistics } from './statistics.ts';
import type { StreamShard } from './stream-shard.ts';
import type { Tables } from './tables.ts';
import type { Terms } from './terms.ts';

/** The members of the world that its parts need. The parts do not import the world, which is made of them. */
export interface WorldContext {
  readonly random: Random;
  readonly faults: Faults;
  readonly terms: Terms;
  readonly clock: VirtualClock;
  readonly statistics: Statistics;
  readonly organizations: Organizations;
  readonly tables: Tables;
  readonly processes: Processes;
  readonly warnings: readonly Notice[];
  readonly lanes: MemoryLanes;
  readonly history: EndpointHistory;
  readonly registrations: ReadonlyMap<ReceiverId, { orgId: OrgId; program: Program }>;
  readonly events: Map<EventId, OutboxEvent>;
  readonly entries: ReadonlyMap<string, Entry>;
  readonly deliveryStream: DeliveryStream;
  readonly shards: readonly (StreamShard<Entry> | StreamShard<Change>)[];
  readonly isUntroubled: boolean;
  readonly trace: ((line: string) => void) | undefined;
  createdMs(id: DeliveryId | EventId): number;
  restByOf(delivery: Pick<Delivery, 'id' | 'eventId'>): number;
  hasMessage(id: DeliveryId): boolean;
  named(text: string): string;
}
