import { LANES } from '../../functions/delivery/lanes.ts';
import { keys } from '../../functions/tenancy/keys.ts';
import type { Customers } from './customers.ts';
import { HAPPENINGS, type Happening } from './faults.ts';
import type { Readers } from './readers.ts';
import { Resets } from './resets.ts';
import type { World } from './world.ts';

/** Scheduled runs: the schedule may skip one, or invoke it twice. */
interface ScheduledRuns {
  skip(): void;
  double(): void;
}

/** Readers of streams: none ran for a night. */
const LONG_OUTAGE_SECONDS = 12 * 3600;
/** Longer than the three days after which a delivery expires. */
const DAYS_SECONDS = 3.1 * 86_400;

/** Events from outside of the service: actions of customers, and faults of queues, streams and machines. */
export class Happenings {
  readonly #world: World;
  readonly #customers: Customers;
  readonly #readers: Readers;
  readonly #resets: Resets;
  readonly #weights: Record<Happening, number>;
  readonly #scheduled: ScheduledRuns;

  constructor(world: World, customers: Customers, readers: Readers, scheduled: ScheduledRuns) {
    this.#world = world;
    this.#customers = customers;
    this.#readers = readers;
    this.#resets = new Resets(world, customers);
    this.#scheduled = scheduled;
    this.#weights = Object.fromEntries(
      HAPPENINGS.map((name) => [name, world.faults.happenings[name] ?? 0]),
    ) as Record<Happening, number>;
  }

  next(): void {
    const happening = this.#world.random.weighted(this.#weights);
    if (happening === undefined) return;
    const what = this.#deeds[happening]();
    if (what === undefined || what === false) return;
    this.#world.statistics.count(happening);
    if (what !== true) this.#world.trace?.(`- ${happening}: ${what}`);
  }

  /** Each returns what it did, or true; undefined or false when there was nothing to do it to. */
  readonly #deeds: Record<Happening, () => string | boolean | undefined> = {
    event: () => this.#customers.send(),
    'test-event': () => this.#customers.sendTest(),
    example: () => this.#customers.sendExample(),
    'channel-message': () => this.#customers.sendMessage(),
    message: () => this.#customers.post(),
    read: () => this.#readers.read(),
    'attempt-now': () => this.#customers.attemptNow(),
    'job-stopped': () => this.#customers.stopJob(),
    'url-changed': () => this.#customers.changeUrl(),
    'limit-changed': () => this.#customers.changeLimit(),
    operator: () => this.#customers.disableOrEnable(),
    redelivery: () => this.#customers.redeliver(),
    'redelivery-job': () => this.#customers.startJob(),
    registration: () => this.#customers.register(),
    deletion: () => this.#customers.unregister(),
    subscription: () => this.#customers.subscribe(),
    reset: () => this.#resets.reset(),
    'event-lost': () => this.#loseEvent(),
    'message-lost': () => {
      if (this.#world.random.chance(0.2) && this.#world.rounds.lose()) return 'the next round of a job';
      const deliveryMessage = this.#queue().lose(this.#any());
      if (deliveryMessage) this.#world.witness.lost.add(deliveryMessage.id);
      return deliveryMessage?.id;
    },
    'message-doubled': () => {
      const queue = this.#queue();
      const deliveryMessage =
        queue.deliveryMessages[this.#any() % Math.max(1, queue.deliveryMessages.length)];
      if (deliveryMessage) void queue.send([{ message: deliveryMessage }]);
      return deliveryMessage?.id;
    },
    'message-delayed': () => {
      const queue = this.#queue();
      const until = new Date(this.#world.clock.ms + this.#world.random.pick([0, 0, 20, 60, 1800]) * 1000);
      if (queue.deliveryMessages.length === 0) return undefined;
      queue.delay(this.#any(), until);
      return `one of ${queue.deliveryMessages.length} until ${until.toISOString()}`;
    },
    'messages-reordered': () => this.#done(() => this.#queue().reorder(this.#any())),
    'messages-refused': () => this.#done(() => this.#queue().refuse(this.#world.random.between(1, 3))),
    'lane-crowded': () => {
      const { full } = this.#world.lanes;
      const lane = this.#world.random.pick(LANES);
      if (!full.delete(lane)) full.add(lane);
      return `${lane} ${full.has(lane)}`;
    },
    'batch-replayed': () => {
      const { random, shards } = this.#world;
      const shard = random.pick(shards);
      shard.rewind(random.between(1, 6));
      return shard.id;
    },
    'stream-stalled': () => {
      const { random, shards, clock } = this.#world;
      const shard = random.pick(shards);
      const seconds = random.pick([5, 60, 300, 1800, LONG_OUTAGE_SECONDS]);
      shard.stalledUntilMs = clock.ms + seconds * 1000;
      return `${shard.id} for ${seconds} s`;
    },
    'process-lost': () => {
      const live = [...this.#world.processes.live];
      if (live.length === 0) return undefined;
      const process = this.#world.random.pick(live);
      this.#world.processes.lose(process);
      return process.name;
    },
    'process-frozen': () => {
      const live = [...this.#world.processes.live];
      if (live.length === 0) return undefined;
      const process = this.#world.random.pick(live);
      this.#world.processes.freeze(process, 60);
      return process.name;
    },
    'clock-stepped': () => {
      const { processes, random, faults } = this.#world;
      const live = [...processes.live];
      if (live.length === 0 || faults.maxSkewMs === 0) return undefined;
      const process = random.pick(live);
      process.skewMs = random.between(-faults.maxSkewMs, faults.maxSkewMs);
      process.hasStepped = true;
      return `${process.name} to ${process.skewMs} ms`;
    },
    'dispatchers-stalled': () => {
      const { random, clock } = this.#world;
      const seconds = random.pick([60, 1200, 7200]);
      this.#world.dispatchersStalledUntilMs = clock.ms + seconds * 1000;
      return `for ${seconds} s`;
    },
    'minute-skipped': () => this.#done(() => this.#scheduled.skip()),
    'run-doubled': () => this.#done(() => this.#scheduled.double()),
    'organization-in-doubt': () => {
      const { random, organizations } = this.#world;
      const orgId = random.pick(organizations.ids);
      const seconds = random.pick([1, 30, 300]);
      organizations.doubt(orgId, seconds);
      return `${orgId} for ${seconds} s`;
    },
    'time-passes': () => {
      // Calls in transit land within seconds.
      if (this.#world.processes.isUnderWay) return undefined;
      const { faults, random, witness } = this.#world;
      // A delivery that was deferred just before it is old enough to expire.
      const jumps = witness.isDeferring && random.chance(0.3) ? [DAYS_SECONDS] : faults.jumps;
      const seconds = random.pick(jumps);
      this.#world.clock.elapse(seconds);
      return `${seconds} s`;
    },
  };

  /** The body of a processed event goes missing, which no part of the service does. */
  #loseEvent(): string | undefined {
    const { entries, events, random, tables } = this.#world;
    const done = [...entries.values()].flatMap(({ owed, done }) =>
      owed.kind === 'event' && done !== undefined && events.has(owed.event.id) ? [owed.event.id] : [],
    );
    if (done.length === 0) return undefined;
    const id = random.pick(done);
    const lost = events.get(id);
    if (lost !== undefined) tables.memory.delete('outbox', { ...keys.event(lost, id) });
    return id;
  }

  #done(deed: () => void): true {
    deed();
    return true;
  }

  #queue() {
    return this.#world.lanes.queues[this.#world.random.pick(LANES)];
  }

  #any(): number {
    return this.#world.random.below(1000);
  }
}
