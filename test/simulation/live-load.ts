import { type DeliveryId, type EndpointId, type EventId, newId } from '../../functions/aws/ids.ts';
import { committer } from '../../functions/aws/transaction.ts';
import { attemptDelivery } from '../../functions/delivery/attempt.ts';
import type { OutgoingMessage } from '../../functions/delivery/delivery.ts';
import {
  createDelivery,
  type Delivery,
  type DeliveryMessage,
  toDeliveryMessage,
} from '../../functions/delivery/delivery.ts';
import { processDeliveryMessages } from '../../functions/delivery/dispatch.ts';
import {
  computeRedeliveryGroup,
  LANE_TABLE,
  LANES,
  type Lane,
  type StageClass,
} from '../../functions/delivery/lanes.ts';
import type { RedeliveryRecord } from '../../functions/delivery/redelivery.ts';
import { deliveryMoves, deliveryStore } from '../../functions/delivery/rows.ts';
import { settlements } from '../../functions/delivery/settle.ts';
import { computeDelaySeconds, DEFAULT_RETRY_POLICY } from '../../functions/delivery/timing.ts';
import { endpointTurns, rateScheduleStore } from '../../functions/delivery/turns.ts';
import type { OutboxEvent } from '../../functions/events/events.ts';
import type { Endpoint } from '../../functions/receivers/endpoint.ts';
import { endpointPaces } from '../../functions/receivers/pace.ts';
import {
  buildRound,
  createCatchUpJob,
  createJob,
  type LeasedJob,
  type RedeliveryJob,
  redeliveryJobs,
  redeliveryRounds,
} from '../../functions/redelivery/jobs.ts';
import { runRedeliveryJob } from '../../functions/redelivery/redeliver.ts';
import { aDelivery, anEndpoint, anEvent, later, seconds } from '../builders.ts';
import { interposed } from '../doubles/interposed.ts';
import { MemoryEndpoints } from '../doubles/memory-deliveries.ts';
import { MemoryLanes } from '../doubles/memory-lanes.ts';
import { memoryOrganizationStates } from '../doubles/memory-organization-states.ts';
import { noMeasures } from '../doubles/no-measures.ts';
import { logTo } from './failures.ts';
import { Random } from './random.ts';
import { Timeline } from './timeline.ts';
import { clocks } from './witness.ts';

/** Milliseconds that things take on AWS, from and to. */
const CALL_MS = [4, 12] as const;
const INVOCATION_MS = [8, 25] as const;
/** Between two events of each endpoint. */
const EVERY_MS = 50;
const GRACE_SECONDS = 900;

export interface LoadTerms {
  /** Its numbers of concurrent batches. */
  stage: StageClass;
  /** How long the receivers take to answer, from and to. */
  receiverMs: readonly [number, number];
  /** Endpoints that run a job, each with so many failed deliveries, beside one without. */
  jobs: number;
  failed: number;
  /** Whether they were skipped in a pause, whose end begins the job, instead of failed. */
  isPlanned?: boolean;
  /** Of the endpoints that run a job: attempts in a second, and events that wait there before the job. */
  limited?: { maxPerSecond: number; line: number };
  /** Between two events of each endpoint. Milliseconds. */
  everyMs?: number;
}

/** Live events at several endpoints, over the service's own worker and dispatchers in virtual time. */
export class LiveLoad {
  readonly #terms: LoadTerms;
  readonly #random = new Random(1);
  readonly #timeline = new Timeline();
  readonly #endpoints = new MemoryEndpoints();
  readonly #tables = this.#endpoints.service.tables;
  readonly #store = deliveryStore(this.#tables.deliveries);
  readonly #organizations = memoryOrganizationStates();
  readonly #lanes: MemoryLanes;
  readonly #busy = new Map<Lane, number>();
  readonly #live = new Map<EventId, OutboxEvent>();
  readonly #latencies: number[] = [];
  readonly #log = logTo(() => undefined);
  readonly #withJobs: Endpoint[];
  readonly #all: Endpoint[];
  /** Deliveries of jobs until their first attempts have ended. */
  readonly #outstanding = new Set<DeliveryId>();
  mostOutstanding = 0;
  /** Attempts of jobs' deliveries, and how many there were when a live event was emitted. */
  #ofJobs = 0;
  readonly #ofJobsBefore = new Map<EventId, number>();
  /** The most of them that came before a live event. */
  mostBefore = 0;
  /** How often each event was attempted. */
  readonly arrivals = new Map<EventId, number>();

  constructor(terms: LoadTerms) {
    this.#terms = terms;
    const { now } = this.#timeline;
    this.#lanes = new MemoryLanes({ now, visibilitySeconds: clocks.visibility, maxReceives: 100 });
    const createdAt = now().toISOString();
    const create = (maxPerSecond?: number) =>
      anEndpoint({
        ...{ id: newId('whk', now()), orgId: newId('org', now()), createdAt },
        ...(maxPerSecond === undefined ? {} : { maxPerSecond }),
      });
    this.#withJobs = Array.from({ length: terms.jobs }, () => create(terms.limited?.maxPerSecond));
    this.#all = [...this.#withJobs, create()];
    for (const endpoint of this.#all) this.#endpoints.put(endpoint);
  }

  #take([from, to]: readonly [number, number]): Promise<void> {
    return this.#timeline.sleep(from + this.#random.next() * (to - from));
  }

  /** The port with the time that its calls take. */
  #timed<T extends object>(port: T): T {
    return interposed('', port, async (_call, stage) => {
      if (stage === 'calling') await this.#take(CALL_MS);
    });
  }

  readonly #queues = this.#timed({
    send: async <M extends OutgoingMessage>(lane: Lane, messages: readonly M[]) => {
      const refused = await this.#lanes.send(lane, messages);
      this.#invoke();
      for (const { until } of messages) if (until !== undefined) void this.#invokeAt(until);
      return refused;
    },
    hide: (...parameters: Parameters<MemoryLanes['hide']>) => this.#lanes.hide(...parameters),
    crowded: async () => false,
  });

  async #invokeAt(time: Date): Promise<void> {
    await this.#timeline.sleep(seconds(computeDelaySeconds(time, this.#timeline.now())));
    this.#invoke();
  }

  /** Starts a batch for each free dispatcher of a queue with messages. */
  #invoke(): void {
    for (const lane of LANES) {
      const most = LANE_TABLE[lane].dispatchers[this.#terms.stage];
      while ((this.#busy.get(lane) ?? 0) < most && this.#lanes.queues[lane].backlog > 0) {
        this.#busy.set(lane, (this.#busy.get(lane) ?? 0) + 1);
        void this.#runBatch(lane).finally(() => {
          this.#busy.set(lane, (this.#busy.get(lane) ?? 0) - 1);
          this.#invoke();
        });
      }
    }
  }

  async #runBatch(lane: Lane): Promise<void> {
    const queue = this.#lanes.queues[lane];
    const messages = queue.receive();
    await this.#take(INVOCATION_MS);
    const staying = new Set((await this.#dispatch(lane, messages)).map(({ receiptHandle }) => receiptHandle));
    for (const { receiptHandle } of messages)
      if (!staying.has(receiptHandle)) await queue.remove(receiptHandle);
  }

  readonly #dispatch = this.#createDispatcher();

  #createDispatcher() {
    const { now } = this.#timeline;
    const { service, outbox, deliveries, rates } = this.#tables;
    const log = this.#log;
    const wait = (time: number) => this.#timeline.sleep(time * 1000);
    const terms = {
      graceSeconds: GRACE_SECONDS,
      maxAttempts: DEFAULT_RETRY_POLICY.maxAttempts,
      commitSeconds: 20,
    };
    const ends = settlements({ deliveries, service, outbox }, { ...terms, measures: noMeasures, log });
    const moves = { ...deliveryMoves(deliveries), ...ends };
    const ports = this.#timed({ ...moves, find: this.#store.find, findAll: this.#store.findAll });
    const attempt = attemptDelivery(
      {
        deliveries: ports,
        paces: endpointPaces({ ...this.#timed(this.#endpoints), log, now }, clocks.attempt),
        queues: this.#queues,
        prepareSend:
          async () =>
          async ({ id, eventId }) => {
            this.#arrive(eventId);
            await this.#take(this.#terms.receiverMs);
            this.#outstanding.delete(id);
            return { status: 200 };
          },
        takeTurn: endpointTurns({
          schedules: this.#timed(rateScheduleStore(rates)),
          deliveries: ports,
          log,
          now,
        }),
        measures: noMeasures,
        log,
        now,
        wait,
      },
      { retry: DEFAULT_RETRY_POLICY, leaseSeconds: clocks.lease },
    );
    return processDeliveryMessages({
      attempt,
      organizations: this.#organizations,
      contexts: async (messages: readonly DeliveryMessage[]) => {
        await this.#take(CALL_MS);
        const events = new Map(messages.map(({ id, eventId }) => [id, this.#live.get(eventId) ?? anEvent()]));
        return ({ id, orgId, webhookId }) => ({
          endpoint: this.#endpoints.present(orgId, webhookId),
          event: events.get(id),
        });
      },
      queues: this.#queues,
      log,
      now,
    });
  }

  #arrive(eventId: EventId): void {
    this.arrivals.set(eventId, (this.arrivals.get(eventId) ?? 0) + 1);
    const event = this.#live.get(eventId);
    if (event === undefined) {
      this.#ofJobs += 1;
      return;
    }
    this.#latencies.push(this.#timeline.clock.ms - Date.parse(event.createdAt));
    const before = this.#ofJobs - (this.#ofJobsBefore.get(eventId) ?? 0);
    this.mostBefore = Math.max(this.mostBefore, before);
  }

  async #emit(endpoint: Endpoint): Promise<void> {
    const now = this.#timeline.now();
    const event = anEvent({ tenant: { orgId: endpoint.orgId, generation: 0 }, now });
    this.#live.set(event.id, event);
    this.#ofJobsBefore.set(event.id, this.#ofJobs);
    const delivery = createDelivery(event, endpoint, now);
    await this.#take(CALL_MS);
    await this.#store.add(delivery);
    await this.#queues.send('fresh', [{ message: toDeliveryMessage(delivery) }]);
  }

  /** @returns the latencies of the live events while something runs, in milliseconds */
  async #during(work: Promise<unknown>): Promise<number[]> {
    let isOver = false;
    const end = work.finally(() => {
      isOver = true;
    });
    this.#latencies.length = 0;
    const emit = async (endpoint: Endpoint) => {
      const sent: Promise<void>[] = [];
      while (!isOver) {
        sent.push(this.#emit(endpoint));
        await this.#timeline.sleep((this.#terms.everyMs ?? EVERY_MS) * (0.5 + this.#random.next()));
      }
      await Promise.all(sent);
    };
    await this.#timeline.run(Promise.all([end, ...this.#all.map(emit)]));
    await this.#timeline.run(this.#timeline.sleep(30_000));
    return [...this.#latencies];
  }

  /** Live events without a job. */
  without(duration: number): Promise<number[]> {
    return this.#during(this.#timeline.sleep(seconds(duration)));
  }

  /** Live events beside the jobs. */
  async withJobs(): Promise<{ latencies: number[]; jobSeconds: number }> {
    for (const endpoint of this.#withJobs) await this.#fail(endpoint);
    const startedMs = this.#timeline.clock.ms;
    let jobSeconds = 0;
    const jobs = Promise.all(this.#withJobs.map((endpoint) => this.#runJobBehindLine(endpoint))).then(() => {
      jobSeconds = (this.#timeline.clock.ms - startedMs) / 1000;
    });
    return { latencies: await this.#during(jobs), jobSeconds };
  }

  /** Adds the failed deliveries of an hour ago. */
  async #fail({ id: webhookId, orgId }: Endpoint): Promise<void> {
    const missed = this.#terms.isPlanned
      ? ({ status: 'skipped', terminalReason: 'endpoint_paused' } as const)
      : ({ status: 'exhausted' } as const);
    for (let index = 0; index < this.#terms.failed; index += 1) {
      const eventId = newId('evt', later(this.#timeline.now(), index - seconds(3600)));
      await this.#store.add(aDelivery({ eventId, webhookId, orgId, ...missed }));
    }
  }

  async #runJobBehindLine(endpoint: Endpoint): Promise<void> {
    const line = Array.from({ length: this.#terms.limited?.line ?? 0 }, () => this.#emit(endpoint));
    await Promise.all(line);
    await this.#runJob(endpoint);
  }

  #createJob({ id, orgId }: Endpoint): RedeliveryJob {
    const now = this.#timeline.now();
    const from = later(now, -seconds(7200)).toISOString();
    const context = { tenant: { orgId, generation: 0 }, now };
    if (this.#terms.isPlanned) return createCatchUpJob(id, from, context);
    const active = { id: id as EndpointId, status: 'active' } as const;
    const created = createJob({ from, statuses: ['exhausted'] }, active, context);
    if (created.kind === 'refused') throw new Error(`the job was refused: ${created.why}`);
    return created.job;
  }

  async #runJob(endpoint: Endpoint): Promise<void> {
    const { now } = this.#timeline;
    const { service } = this.#tables;
    const commit = committer(service.client);
    const jobs = redeliveryRounds(this.#tables, commit);
    const messages: Parameters<ReturnType<typeof runRedeliveryJob>>[0][] = [];
    const run = runRedeliveryJob(
      {
        tables: this.#tables,
        jobs: this.#timed({
          ...jobs,
          add: (job: LeasedJob, delivery: Delivery, read: Partial<RedeliveryRecord>) => {
            this.#outstanding.add(delivery.id);
            this.mostOutstanding = Math.max(this.mostOutstanding, this.#outstanding.size);
            return jobs.add(job, delivery, read);
          },
        }),
        deliveries: this.#timed(this.#store),
        endpoints: this.#timed(this.#endpoints),
        queues: this.#queues,
        rounds: {
          send: async (events) => {
            messages.push(...events);
            return [];
          },
        },
        organizations: this.#organizations,
        log: this.#log,
        now,
        wait: (time) => this.#timeline.sleep(time * 1000),
      },
      // As in functions/workers/redeliver.ts.
      {
        leaseSeconds: 40,
        roundSeconds: 10,
        pageSize: 200,
        window: computeRedeliveryGroup(LANE_TABLE.slow.dispatchers[this.#terms.stage]),
      },
    );
    const job = this.#createJob(endpoint);
    await commit(redeliveryJobs(service).start(job));
    messages.push(buildRound(job, 1, now()));
    for (let message = messages.shift(); message !== undefined; message = messages.shift()) {
      await this.#take(INVOCATION_MS);
      await run(message);
    }
  }
}
