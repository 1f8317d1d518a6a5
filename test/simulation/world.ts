import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import type { DeliveryMessage } from '../../functions/domain/delivery.ts';
import type { DeadLetter, OutboxEvent } from '../../functions/domain/events.ts';
import type { DeliveryId, EventId, IdPrefix, OrgId, ReceiverId } from '../../functions/domain/ids.ts';
import type { LedgerEntry } from '../../functions/domain/ledger.ts';
import type { OutboxWork } from '../../functions/domain/redelivery.ts';
import type { Tenant } from '../../functions/domain/tenant.ts';
import { NOW } from '../builders.ts';
import type { RowChange } from '../doubles/memory-deliveries.ts';
import { MemoryLanes } from '../doubles/memory-lanes.ts';
import { DeliveryStream } from './delivery-stream.ts';
import { EndpointHistory } from './endpoint-history.ts';
import { type Entry, idOf, tenantOf } from './entries.ts';
import { type Faults, faultsOf } from './faults.ts';
import { LetterBox } from './letter-box.ts';
import { MemoryStores } from './memory-stores.ts';
import { Organizations } from './organizations.ts';
import { type Process, Processes } from './processes.ts';
import type { Program } from './programs.ts';
import { ATTEMPTS } from './promises.ts';
import type { Random } from './random.ts';
import { Receivers } from './receivers.ts';
import { longestRestMs } from './rest.ts';
import { SandboxTables } from './sandbox-tables.ts';
import { Statistics } from './statistics.ts';
import type { Stores } from './stores.ts';
import { StreamShard } from './stream-shard.ts';
import { type Terms, termsOf } from './terms.ts';
import { clocks, Witness } from './witness.ts';
import type { WorldContext } from './world-context.ts';

/** Shards of each stream. */
const SHARDS = 2;

/**
 * How far the ledger may be behind before an audit counts it as wrong; a run of the audit takes time itself.
 */
const AUDITED_LAG_MS = 540_000;
const STREAM_MS = 24 * 3_600_000;

const TOKEN = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;

/**
 * Everything outside of the processes: stores, queues, streams and receivers, with a clock that the scheduler
 * moves.
 */
export class World implements WorldContext {
  readonly random: Random;
  readonly faults: Faults;
  readonly terms: Terms;
  readonly clock: VirtualClock;
  readonly statistics = new Statistics();
  readonly organizations: Organizations;
  /** Maximum of entries in a page of the due index. */
  readonly duePage: number;
  readonly stores: Stores;
  readonly endpoints: Stores['endpoints'];
  readonly deliveries: Stores['deliveries'];
  readonly ledger: Stores['ledger'];
  readonly purges: Stores['purges'];
  readonly sandboxTables: SandboxTables;
  readonly lanes: MemoryLanes;
  readonly processes: Processes;
  readonly receivers: Receivers;
  readonly witness: Witness;
  readonly history: EndpointHistory;
  /** All registrations, including those of deleted endpoints. */
  readonly registrations = new Map<ReceiverId, { orgId: OrgId; program: Program }>();
  readonly events = new Map<EventId, OutboxEvent>();
  readonly entries = new Map<string, Entry>();
  readonly outboxShards: StreamShard<Entry>[];
  readonly deliveryStream: DeliveryStream;
  readonly deadReminders = new LetterBox<DeliveryMessage>(clocks.visibility);
  readonly deadFanOuts = new LetterBox<DeadLetter>(60);
  /**
   * Entries of the ledger with uncounted changes, because their tenant was not found when the stream had
   * them.
   */
  readonly uncounted = new Set<string>();
  /** Entries that the last audit corrected although the stream was behind and had lost records. */
  readonly correctedTooSoon = new Set<string>();
  /** Without faults from the start, or from now on. */
  isUntroubled: boolean;
  /** When all deliveries must have ended. */
  restBy = Number.POSITIVE_INFINITY;
  /** Set to get a line for everything that happens. */
  trace: ((line: string) => void) | undefined;
  readonly #names = new Map<string, string>();
  readonly #readMs = new Map<Process, number>();
  #deliveries = 0;
  #notices = 0;
  #warnings = 0;
  #tokens = 0;
  #ids = 0;

  /** @param storesOf makes the stores of the world */
  constructor(random: Random, storesOf = (world: World): Stores => new MemoryStores(world)) {
    this.random = random;
    this.faults = faultsOf(random);
    this.isUntroubled = this.faults.isCalm;
    this.terms = termsOf(random, this.faults.isCalm);
    this.clock = new VirtualClock(new Date(NOW.getTime() + random.below(3_600_000)));
    this.organizations = new Organizations(random, this.clock, (name) => this.newId('org', name));
    this.duePage = random.pick([2, 100]);
    this.stores = storesOf(this);
    this.endpoints = this.stores.endpoints;
    this.deliveries = this.stores.deliveries;
    this.ledger = this.stores.ledger;
    this.purges = this.stores.purges;
    this.lanes = new MemoryLanes({
      now: this.clock.now,
      visibilitySeconds: clocks.visibility,
      maxReceives: this.terms.maxReceives,
      fair: this.terms.fair,
    });
    this.processes = new Processes(this.clock);
    this.history = new EndpointHistory(this.endpoints, this.clock);
    this.receivers = new Receivers(random, this.terms.attempts < ATTEMPTS);
    this.sandboxTables = new SandboxTables(this);
    this.witness = new Witness(this);
    this.outboxShards = Array.from({ length: SHARDS }, (_, shard) => this.#outboxShard(`outbox-${shard}`));
    this.deliveryStream = new DeliveryStream(this.deliveries, this.clock, SHARDS);
    // Some runs begin with an outage of a stream's reader.
    const outageSeconds = this.faults.isCalm ? 0 : random.pick([0, 0, 0, 0, 600, 1800]);
    for (const shard of this.deliveryStream.shards)
      shard.stalledUntilMs = this.clock.ms + outageSeconds * 1000;
  }

  #outboxShard(shardId: string): StreamShard<Entry> {
    return new StreamShard(shardId, {
      tries: this.terms.fanOutTries,
      giveUp: (from, to) => {
        this.statistics.count('fan-outs given up');
        const records = {
          streamArn: 'outbox',
          shardId,
          startSequenceNumber: String(from + 1),
          endSequenceNumber: String(to),
        };
        this.deadFanOuts.send({ kind: 'records', records }, this.clock.ms);
      },
    });
  }

  /** An identifier from the seed. */
  newId<P extends IdPrefix>(prefix: P, name: string): `${P}_${string}` {
    this.#ids += 1;
    const time = this.clock.ms.toString(16).padStart(12, '0');
    const id = `${prefix}_${time}${String(this.#ids).padStart(20, '0')}` as const;
    this.#names.set(id, `${name} ${this.#ids}`);
    return id;
  }

  /** Tokens that the stores generate themselves, in the order in which they are seen. */
  #tokenName(token: string): string {
    const known = this.#names.get(token);
    if (known !== undefined) return known;
    this.#tokens += 1;
    const name = `token ${this.#tokens}`;
    this.#names.set(token, name);
    return name;
  }

  /** The text with short names instead of identifiers. */
  named(text: string): string {
    return text
      .replace(/\b[a-z]{3}_[0-9a-f]{32}\b/g, (id) => this.#names.get(id) ?? id)
      .replace(TOKEN, (token) => this.#tokenName(token));
  }

  createdMs(id: DeliveryId | EventId): number {
    return Number.parseInt(id.slice(4, 16), 16);
  }

  /** Commits something to the outbox. */
  commit(owed: OutboxWork): void {
    const id = idOf(owed);
    const entry: Entry = {
      owed,
      committed: this.history.order,
      done: undefined,
      isAbandoned: false,
      isPurged: false,
    };
    this.entries.set(id, entry);
    this.stores.commit(entry);
    this.sandboxTables.written('outbox', tenantOf(owed), id);
    if (owed.kind === 'event') this.events.set(owed.event.id, owed.event);
    this.outboxShards[this.#ids % SHARDS]?.write(entry, this.clock.ms);
  }

  /** The tenant of an endpoint's data in a generation. */
  tenantAt({ webhookId, generation }: Pick<LedgerEntry, 'webhookId' | 'generation'>): Tenant | undefined {
    const orgId = this.registrations.get(webhookId)?.orgId;
    return orgId && { orgId, generation };
  }

  /** How often an eventually consistent read returns an earlier version. */
  get staleReads(): number {
    return this.isUntroubled ? 0 : this.faults.staleReads;
  }

  /** The calm phase begins: no more faults. */
  calmDown(): void {
    this.isUntroubled = true;
    this.lanes.full.clear();
    // A queue with few messages may have kept them.
    for (const queue of Object.values(this.lanes.queues)) queue.acceptAll();
    this.organizations.calmDown();
    this.witness.calmDown();
    this.restBy = this.clock.ms + longestRestMs(this);
  }

  /** The age of an identifier. */
  ageMs({ owed }: Entry): number {
    return this.clock.ms - this.createdMs(idOf(owed));
  }

  isDone(entry: Entry): void {
    entry.done ??= this.history.order;
    this.witness.fannedOut(entry);
  }

  /** Takes over the new records of the deliveries' stream. */
  takeStream(): void {
    for (const delivery of this.deliveryStream.take()) {
      const { id, webhookId, generation } = delivery;
      this.#deliveries += 1;
      if (!this.#names.has(id)) this.#names.set(id, `delivery ${this.#deliveries}`);
      this.sandboxTables.written('deliveries', delivery, webhookId, generation, id);
    }
    for (; this.#notices < this.deliveries.notices.length; this.#notices += 1) {
      const notice = this.deliveries.notices[this.#notices];
      if (notice === undefined) continue;
      this.sandboxTables.written('outbox', this.organizations.tenantOf(notice.orgId), notice.webhookId);
    }
    for (; this.#warnings < this.deliveries.warnings.length; this.#warnings += 1) {
      const warning = this.deliveries.warnings[this.#warnings];
      if (warning !== undefined) this.sandboxTables.written('outbox', warning, warning.id);
    }
  }

  /** Whether the ledger is or was further behind than an audit may count as wrong. */
  get ledgerLags(): boolean {
    return this.deliveryStream.longestLagMs > AUDITED_LAG_MS - this.faults.maxSkewMs;
  }

  /** Whether a stream was behind for longer than DynamoDB keeps its records: 24 hours. */
  get streamLosesRecords(): boolean {
    return this.deliveryStream.longestLagMs > STREAM_MS - this.faults.maxSkewMs;
  }

  /** All shards of all streams. */
  get shards(): readonly (StreamShard<Entry> | StreamShard<RowChange>)[] {
    return [...this.outboxShards, ...this.deliveryStream.shards];
  }

  /** The time at which the process has read its batch. */
  reads(process: Process): void {
    this.#readMs.set(process, this.clock.ms);
  }

  readMs(process: Process): number {
    return this.#readMs.get(process) ?? 0;
  }

  hasMessage(id: DeliveryId): boolean {
    return (
      this.lanes.reminders.some((reminder) => reminder.id === id) ||
      this.lanes.deadLetters.some((reminder) => reminder.id === id) ||
      this.deadReminders.contents.some((reminder) => reminder.id === id)
    );
  }
}
