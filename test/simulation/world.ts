import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import type { DeliveryId, EventId, OrgId, ReceiverId } from '../../functions/aws/ids.ts';
import type { Delivery, DeliveryMessage } from '../../functions/delivery/delivery.ts';
import type { LedgerEntry } from '../../functions/delivery/ledger.ts';
import { PUBLICATION, WORK } from '../../functions/delivery/outbox.ts';
import type { BusEvent, Notice } from '../../functions/events/bus.ts';
import type { DeadLetter, OutboxEvent } from '../../functions/events/events.ts';
import type { Endpoint } from '../../functions/receivers/endpoint.ts';
import type { Tenant } from '../../functions/tenancy/tenant.ts';
import { NOW } from '../builders.ts';
import { MemoryLanes } from '../doubles/memory-lanes.ts';
import type { Row } from '../doubles/tables/expressions.ts';
import type { Written } from '../doubles/tables/memory-tables.ts';
import { type Change, DeliveryStream } from './delivery-stream.ts';
import { EndpointHistory, STALE_MS } from './endpoint-history.ts';
import { type Entry, nameOf } from './entries.ts';
import { type Faults, faultsOf } from './faults.ts';
import { LetterBox } from './letter-box.ts';
import { isOpen } from './moves.ts';
import { Organizations } from './organizations.ts';
import { type Process, Processes } from './processes.ts';
import type { Program } from './programs.ts';
import { ATTEMPTS } from './promises.ts';
import type { Random } from './random.ts';
import { Receivers } from './receivers.ts';
import { longestRestMs } from './rest.ts';
import { Statistics } from './statistics.ts';
import { StreamShard } from './stream-shard.ts';
import { isReceiver, positionOf, Tables } from './tables.ts';
import { type Terms, termsOf } from './terms.ts';
import { MOST_LAG_SECONDS } from './turns.ts';
import { clocks, Witness } from './witness.ts';
import type { WorldContext } from './world-context.ts';

/** Shards of each stream. */
const SHARDS = 2;

/**
 * How far the ledger may be behind before an audit counts it as wrong; a run of the audit takes time itself.
 */
const AUDITED_LAG_MS = 540_000;
const STREAM_MS = 24 * 3_600_000;

/** How far the index that a purge reads is behind in a run, and the due index, in seconds. */
const SANDBOX_LAGS = [0, 0, 0.2, 2, 20];
const DUE_LAGS = [0, 0, 0.5, 5, MOST_LAG_SECONDS];
/** Smaller than the requested page, so that purges end between two pages. */
const PURGE_PAGES = [1, 3, 200];

const TOKEN = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;

/**
 * Everything outside of the processes: tables, queues, streams and receivers, with a clock that the scheduler
 * moves.
 */
export class World implements WorldContext {
  readonly random: Random;
  readonly faults: Faults;
  readonly terms: Terms;
  readonly clock: VirtualClock;
  readonly statistics = new Statistics();
  readonly organizations: Organizations;
  /** Maximum of rows in a page of the due index, and of the index of sandboxes. */
  readonly duePage: number;
  readonly purgePage: number;
  readonly tables: Tables;
  readonly lanes: MemoryLanes;
  readonly processes: Processes;
  readonly receivers: Receivers;
  readonly witness: Witness;
  readonly history: EndpointHistory;
  /** All registrations, including those of deleted endpoints. */
  readonly registrations = new Map<ReceiverId, { orgId: OrgId; program: Program }>();
  readonly events = new Map<EventId, OutboxEvent>();
  /** Events of an outage in which no fan-out can succeed. */
  readonly abandoned = new Set<EventId>();
  readonly entries = new Map<string, Entry>();
  readonly notices: Notice[] = [];
  readonly warnings: Notice[] = [];
  /** Events of the dispatchers, those of deleted generations included. */
  readonly stateEvents: OutboxEvent[] = [];
  /** Those of them that followers may miss: of a worker that had ended, or whose clock may be far off. */
  readonly lateEvents = new Set<EventId>();
  readonly outboxShards: StreamShard<Entry>[];
  readonly deliveryStream: DeliveryStream;
  readonly deadMessages = new LetterBox<DeliveryMessage>(clocks.visibility);
  readonly deadFanOuts = new LetterBox<DeadLetter>(60);
  /** The queue of the rounds of redelivery jobs. */
  readonly rounds = new LetterBox<BusEvent>(60);
  /**
   * Entries of the ledger with uncounted changes, because their tenant was not found when the stream had
   * them.
   */
  readonly uncounted = new Set<string>();
  /** Entries that the last audit corrected although the stream was behind and had lost records. */
  readonly correctedTooSoon = new Set<string>();
  /** Until when no message is received. */
  dispatchersStalledUntilMs = 0;
  /** Without faults from the start, or from now on. */
  isUntroubled: boolean;
  /** When all deliveries must have ended. */
  restBy = Number.POSITIVE_INFINITY;
  /** Set to get a line for everything that happens. */
  trace: ((line: string) => void) | undefined;
  readonly #shardNames: ReadonlyMap<string, string>;
  readonly #names = new Map<string, string>();
  #restMs = 0;
  #deliveries = 0;
  #tokens = 0;
  #ids = 0;

  constructor(random: Random) {
    this.random = random;
    this.faults = faultsOf(random);
    this.isUntroubled = this.faults.isCalm;
    this.terms = termsOf(random, this.faults.isCalm);
    this.clock = new VirtualClock(new Date(NOW.getTime() + random.below(3_600_000)));
    const organizations = this.faults.shortRuns ? 2 : 1;
    this.organizations = new Organizations(random, this.clock, organizations, (name) =>
      this.newId('org', name),
    );
    this.duePage = random.pick([2, 100]);
    this.purgePage = random.pick(PURGE_PAGES);
    const [sandboxLag, dueLag] = this.faults.isCalm
      ? [0, 0]
      : [random.pick(SANDBOX_LAGS), random.pick(DUE_LAGS)];
    const lagging = (seconds: number) => () => (this.isUntroubled ? 0 : seconds * 1000);
    this.tables = new Tables({
      nowMs: () => this.clock.ms,
      lagMs: { ofSandbox: lagging(sandboxLag), due: lagging(dueLag) },
      staleMs: () => (random.chance(this.staleReads) ? random.below(STALE_MS) : 0),
      written: (actor, writes) => this.#written(actor, writes),
    });
    this.lanes = new MemoryLanes({
      now: this.clock.now,
      visibilitySeconds: clocks.visibility,
      maxReceives: this.terms.maxReceives,
      fair: this.terms.fair,
    });
    this.processes = new Processes(this.clock);
    this.history = new EndpointHistory(this.clock);
    this.receivers = new Receivers(random, this.terms.attempts < ATTEMPTS);
    this.witness = new Witness(this);
    this.outboxShards = Array.from({ length: SHARDS }, (_, shard) => this.#outboxShard(`outbox-${shard}`));
    this.deliveryStream = new DeliveryStream(this.clock, SHARDS);
    this.#shardNames = new Map(this.deliveryStream.shards.map(({ id }) => [positionOf(id), id]));
    // Some runs begin with an outage of the dispatchers, or of a stream's reader.
    if (this.faults.shortRuns)
      this.dispatchersStalledUntilMs = this.clock.ms + random.pick([1200, 7200]) * 1000;
    const outageSeconds = this.faults.isCalm ? 0 : random.pick([0, 0, 0, 0, 600, 1800]);
    for (const shard of this.deliveryStream.shards)
      shard.stalledUntilMs = this.clock.ms + outageSeconds * 1000;
    for (const changes of this.organizations.founding(this.tables, (name) => this.newId('org', name)))
      void this.tables.commit(changes);
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
  newId<P extends string>(prefix: P, name: string): `${P}_${string}` {
    this.#ids += 1;
    const time = this.clock.ms.toString(16).padStart(12, '0');
    const id = `${prefix}_${time}${String(this.#ids).padStart(20, '0')}` as const;
    this.#names.set(id, `${name} ${this.#ids}`);
    return id;
  }

  /** Tokens that the stores generate themselves, in the order in which they are seen. */
  #tokenName(token: string): string {
    const cached = this.#names.get(token);
    if (cached !== undefined) return cached;
    this.#tokens += 1;
    const name = `token ${this.#tokens}`;
    this.#names.set(token, name);
    return name;
  }

  /** The text with short names instead of identifiers. */
  named(text: string): string {
    return text
      .replace(/\baud_[0-9a-f]{32}\b/g, 'an audit entry')
      .replace(/\b[a-z]{3}_[0-9a-f]{32}\b/g, (id) => this.#names.get(id) ?? id)
      .replace(TOKEN, (token) => this.#tokenName(token));
  }

  createdMs(id: DeliveryId | EventId): number {
    return Number.parseInt(id.slice(4, 16), 16);
  }

  /** What one request has written, all at once. */
  #written(actor: Process | undefined, writes: readonly Written[]): void {
    const orderBefore = this.history.order;
    for (const { table, before, after } of writes) {
      if (table === 'service') this.#writtenService(after ?? before, after);
      if (table === 'outbox') this.#writtenOutbox(actor, orderBefore, before, after);
      if (table === 'ledger' && after !== undefined) this.#counted(actor, before, after);
      if (table === 'deliveries' && after !== undefined) this.#moved(before, after as unknown as Delivery);
    }
    this.witness.written(actor, writes);
  }

  #writtenService(row: Row | undefined, after: Row | undefined): void {
    if (isReceiver(row?.pk))
      this.history.note(row?.sk as ReceiverId, after as unknown as Endpoint | undefined);
  }

  #writtenOutbox(
    actor: Process | undefined,
    committed: number,
    before: Row | undefined,
    row: Row | undefined,
  ): void {
    if (before !== undefined && row === undefined) this.events.delete(before.id as EventId);
    if (before !== undefined || row === undefined) return;
    if (row.kind === 'notice') this.#noticed(row as unknown as Notice);
    const owed = WORK.parse(row);
    if (owed === undefined) return;
    const entry: Entry = { row, owed, committed, done: undefined, isAbandoned: false };
    this.entries.set(nameOf(owed), entry);
    if (owed.kind === 'event') {
      this.events.set(owed.event.id, owed.event);
      if (owed.event.filterValues?.webhookId !== undefined) this.stateEvents.push(owed.event);
      if (actor !== undefined && (!actor.alive || this.faults.beyondMargin))
        this.lateEvents.add(owed.event.id);
    }
    this.outboxShards[this.entries.size % SHARDS]?.write(entry, this.clock.ms);
  }

  #noticed(notice: Notice): void {
    if (notice.type === 'webhook.disabled') this.notices.push(notice);
    if (notice.type === 'webhook.failing') this.warnings.push(notice);
    const event = notice.type === 'webhook.redelivery' ? PUBLICATION.parse(notice) : undefined;
    if (event !== undefined) this.rounds.send(event, this.clock.ms);
  }

  /** The ledger has counted a shard up to a position, or the audit has corrected an entry. */
  #counted(actor: Process | undefined, before: Row | undefined, after: Row): void {
    if (actor?.kind === 'audit-ledger' && this.streamLosesRecords)
      this.correctedTooSoon.add(`${after.webhookId}#${after.generation}#${after.hour}`);
    const positions = [...this.#shardNames].filter(([name]) => after[name] !== undefined);
    if (after.hour !== undefined && positions.length === 0)
      throw new Error('an entry of the ledger has no position that the simulation knows');
    for (const [name, shardId] of positions) {
      if (after[name] === before?.[name]) continue;
      const sequence = Number.parseInt(String(after[name]), 36);
      this.deliveryStream.countedTo(shardId, after as unknown as LedgerEntry, sequence);
    }
  }

  #moved(before: Row | undefined, delivery: Delivery): void {
    if (before === undefined) {
      this.#deliveries += 1;
      if (!this.#names.has(delivery.id)) this.#names.set(delivery.id, `delivery ${this.#deliveries}`);
    }
    if (before === undefined) this.deliveryStream.write({ kind: 'added', delivery });
    else if (!isOpen(delivery)) this.deliveryStream.write({ kind: 'ended', delivery });
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
    this.dispatchersStalledUntilMs = 0;
    this.witness.calmDown();
    this.#restMs = longestRestMs(this);
    this.restBy = this.clock.ms + this.#restMs;
  }

  /** The age of an entry, by the clock of its process. */
  ageMs({ owed }: Entry): number {
    return this.clock.ms - Date.parse(WORK.describe(owed).createdAt);
  }

  isDone(entry: Entry): void {
    entry.done ??= this.history.order;
    this.witness.fannedOut(entry);
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
  get shards(): readonly (StreamShard<Entry> | StreamShard<Change>)[] {
    return [...this.outboxShards, ...this.deliveryStream.shards];
  }

  /** When a delivery must have ended: one of a late event of the dispatchers later than others. */
  restByOf({ id, eventId }: Pick<Delivery, 'id' | 'eventId'>): number {
    const isOfState = this.stateEvents.some((event) => event.id === eventId);
    return isOfState ? Math.max(this.restBy, this.createdMs(id) + this.#restMs) : this.restBy;
  }

  hasMessage(id: DeliveryId): boolean {
    return (
      this.lanes.deliveryMessages.some((deliveryMessage) => deliveryMessage.id === id) ||
      this.lanes.deadLetters.some((deliveryMessage) => deliveryMessage.id === id) ||
      this.deadMessages.contents.some((deliveryMessage) => deliveryMessage.id === id)
    );
  }
}
