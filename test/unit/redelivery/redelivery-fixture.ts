import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import { type EndpointId, newId, parseCreationTime } from '../../../functions/aws/ids.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import type { Delivery, DeliveryRef, DeliveryStatus } from '../../../functions/delivery/delivery.ts';
import { LARGEST_GROUP } from '../../../functions/delivery/lanes.ts';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import {
  createRedelivery,
  isFromJob,
  recordRedelivery,
  recordSuccess,
} from '../../../functions/delivery/redelivery.ts';
import { deliveryStore } from '../../../functions/delivery/rows.ts';
import { BusEvent } from '../../../functions/events/bus.ts';
import type { OutboxEvent } from '../../../functions/events/events.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import {
  buildJobKey,
  buildRound,
  createJob,
  type RedeliveryJob,
  redeliveryJobs,
  redeliveryRounds,
} from '../../../functions/redelivery/jobs.ts';
import { resumeRedeliveryJobs, runRedeliveryJob } from '../../../functions/redelivery/redeliver.ts';
import { keys, listShards, REDELIVERY_RUN_SHARDS } from '../../../functions/tenancy/keys.ts';
import { aDelivery, anEndpoint, anEvent, later, NOW, seconds } from '../../builders.ts';
import { type Gate, interposed } from '../../doubles/interposed.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { refuse } from '../../doubles/memory-queue.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { sharedMemoryTables } from '../../doubles/tables/stack-tables.ts';

export const LEASE_SECONDS = 40;
export const GRACE_SECONDS = 900;
export const ROUND_SECONDS = 10;
export const SHORTEST_ROUND = 0.01;
/** Few, so that some deliveries take several pages. */
const PAGE_SIZE = 10;

/** A request for a job; by default of the last hour. */
type Asked = Partial<Parameters<typeof createJob>[0]>;

/** The time of attempts that take none. */
const atOnce = (): number => 0;

/** Adds nothing to a call. */
const open: Gate = async () => undefined;

/**
 * An endpoint with deliveries of the last hour, and a redelivery job, over the real stores with their tables
 * in memory.
 */
export function aRedelivery({
  endpoint = anEndpoint(),
  generation = 0,
  pageSize = PAGE_SIZE,
  window = LARGEST_GROUP,
} = {}) {
  const clock = new VirtualClock();
  const tables = sharedMemoryTables();
  const { service, outbox, deliveries } = tables();
  const store = deliveryStore(deliveries);
  const jobs = redeliveryJobs(service);
  const commit = committer(service.client);
  const organizationStates = memoryOrganizationStates();
  const log = recordedLog();
  const reminded: { lane: string; id: string }[] = [];
  const messages: BusEvent[] = [];
  const batches: number[] = [];
  const tenant = { orgId: endpoint.orgId, generation };
  let present: Endpoint | undefined = endpoint;
  const others = new Map<string, Endpoint>();
  const findEndpoint = (id: string) => (id === endpoint.id ? present : others.get(id));
  let refused: 'rounds' | 'deliveries' | undefined;
  /** When deliveries have had their first attempts, in milliseconds. */
  const attemptedAt = new Map<string, number>();
  const isWaiting = (id: string) => (attemptedAt.get(id) ?? 0) > clock.ms;
  let attemptSeconds: (count: number) => number = atOnce;
  /** Seconds of an attempt where all are made one after another, and when the last of them ends. */
  let line: { seconds: number; freeAt: number } | undefined;
  /** The number of deliveries in each request to the queues, and how many were waiting after it. */
  const groups: number[] = [];
  const waiting: number[] = [];

  /** The queue of job messages: time passes until a delayed one comes. */
  const queue = {
    async send(events: readonly BusEvent[], delay = 0) {
      clock.elapse(delay);
      batches.push(events.length);
      if (refused === 'rounds') return refuse(events);
      messages.push(...events.map((event) => BusEvent.parse(event)));
      return [];
    },
  };

  /**
   * A worker.
   * @param gate that each of its calls passes
   * @param onRequest runs before and after each request to a table
   */
  const worker = (
    gate: Gate = open,
    roundSeconds = ROUND_SECONDS,
    onRequest: () => Promise<void> = async () => undefined,
  ) => {
    const own = tables(async (_operation, _input, answer) => {
      await onRequest();
      const answered = await answer();
      await onRequest();
      return answered;
    });
    const store = deliveryStore(own.deliveries);
    // Without a dispatcher, each message is processed at once unless a test says otherwise.
    const listWaiting = async <T extends DeliveryRef>(refs: readonly T[]) =>
      refs.filter(({ id }) => isWaiting(id));
    const states: typeof store.states = async (refs) =>
      new Map(
        [...(await store.states(refs))].map(([id, state]) => [
          id,
          attemptedAt.has(id) && !isWaiting(id) && state.status === 'pending'
            ? { ...state, status: 'retrying' }
            : state,
        ]),
      );
    const find = async (_: string, id: string) => findEndpoint(id);
    return runRedeliveryJob(
      {
        tables: own,
        jobs: interposed('jobs', redeliveryRounds(own, committer(own.service.client)), gate),
        deliveries: interposed('deliveries', { states, listWaiting }, gate),
        endpoints: interposed('endpoints', { find }, gate),
        queues: interposed(
          'queues',
          {
            async send<M extends { message: { id: string } }>(lane: string, outgoing: readonly M[]) {
              if (refused === 'deliveries') return refuse(outgoing);
              reminded.push(...outgoing.map(({ message: { id } }) => ({ lane, id })));
              groups.push(outgoing.length);
              const until = clock.ms + attemptSeconds(outgoing.length) * 1000;
              // A repeated message changes nothing.
              for (const { message } of outgoing) {
                if (attemptedAt.has(message.id)) continue;
                if (line) line.freeAt = Math.max(line.freeAt, clock.ms) + line.seconds * 1000;
                attemptedAt.set(message.id, line?.freeAt ?? until);
              }
              waiting.push([...attemptedAt.keys()].filter(isWaiting).length);
              return [];
            },
          },
          gate,
        ),
        rounds: interposed('rounds', queue, gate),
        organizations: interposed('organizationStates', organizationStates, gate),
        log,
        now: clock.now,
        wait: async (time) => clock.elapse(time),
      },
      { leaseSeconds: LEASE_SECONDS, roundSeconds, pageSize, window },
    );
  };

  /** A worker whose every page takes a second. */
  const slowly = () =>
    worker(async (call, stage) => {
      if (call === 'endpoints.find' && stage === 'calling') clock.elapse(1);
    });

  /** The scheduled worker that resumes jobs. @param gate that each of its calls passes */
  const resumer = (gate: Gate = open) =>
    resumeRedeliveryJobs(
      {
        jobs: interposed('jobs', jobs, gate),
        rounds: interposed('rounds', queue, gate),
        organizations: interposed('organizationStates', organizationStates, gate),
        log,
        now: clock.now,
      },
      { graceSeconds: GRACE_SECONDS },
    );

  /** Starts a job, as the route does. */
  async function start({ id, orgId, status }: Endpoint, asked: Asked = {}): Promise<RedeliveryJob> {
    const order = createJob(
      { from: later(NOW, -seconds(3600)).toISOString(), statuses: ['exhausted', 'skipped'], ...asked },
      { id: id as EndpointId, status },
      { tenant: { orgId, generation }, now: clock.now(), traceId: 'a-trace' },
    );
    if (order.kind === 'refused') throw new Error(`refused: ${order.why}`);
    await commit(jobs.start(order.job));
    messages.push(buildRound(order.job, 1, clock.now()));
    return order.job;
  }

  return {
    clock,
    log,
    organizationStates,
    resumer,
    /** The rows of running jobs, due or not. */
    async runs() {
      const pages = await Promise.all(
        listShards(REDELIVERY_RUN_SHARDS).map((shard) =>
          jobs.findRuns(shard, later(clock.now(), seconds(1))),
        ),
      );
      return pages.flatMap(({ entries }) => entries);
    },
    /** The number of messages of each request to the queue. */
    batches,
    /** Deletes the row of a job, as its TTL does. */
    forget: (job: RedeliveryJob) =>
      service.client.send(new DeleteCommand({ TableName: service.name, Key: buildJobKey(job) })),
    /** From now on the queues refuse these messages alone. */
    refuses: (messages: typeof refused) => {
      refused = messages;
    },
    endpoint,
    tenant,
    reminded,
    groups,
    /**
     * From now on the first attempts of a group of so many deliveries take a time.
     * @returns how many deliveries were waiting after each group was sent
     */
    attemptsTake(seconds: number | ((count: number) => number)): readonly number[] {
      attemptSeconds = typeof seconds === 'number' ? () => seconds : seconds;
      return waiting;
    },
    /** From now on attempts are made one after another, behind so many others. */
    attemptsAreInLine(seconds: number, others: number): readonly number[] {
      line = { seconds, freeAt: clock.ms + others * seconds * 1000 };
      return waiting;
    },
    worker,
    slowly,
    jobs,
    commit,
    store,
    /** The messages in the worker's queue. */
    messages,
    /** Changes the endpoint, or deletes it. */
    becomes: (changes: Partial<Endpoint> | undefined) => {
      present = changes && { ...endpoint, ...changes };
    },
    /** Registers another endpoint. */
    registers: (other: Endpoint) => void others.set(other.id, other),
    /** The endpoints as the fan-out reads them. */
    endpoints: () => [...(present === undefined ? [] : [present]), ...others.values()],
    /** Adds a delivery of so many seconds ago, of a new event unless one is given. */
    async had(
      status: DeliveryStatus,
      secondsAgo: number,
      changes: Partial<Delivery> = {},
    ): Promise<Delivery> {
      const eventId = newId('evt', later(NOW, -seconds(secondsAgo)));
      const webhookId = endpoint.id;
      const delivery = aDelivery({ ...tenant, eventId, webhookId, status, ...changes });
      await store.add(delivery);
      return delivery;
    },
    /** Adds an event of so many seconds ago to the outbox. */
    async happened(secondsAgo: number, changes: Partial<OutboxEvent> = {}): Promise<OutboxEvent> {
      const event = { ...anEvent({ tenant, now: later(NOW, -seconds(secondsAgo)) }), ...changes };
      await commit([outboxStore(outbox).append(event)]);
      return event;
    },
    /** Records that a resent delivery arrived, as its settlement does. */
    arrives: (delivery: Delivery) => commit([recordSuccess(service, delivery)]),
    /** Resends a delivery alone, as the route does. */
    async redelivers(delivery: Delivery): Promise<Delivery> {
      const created = createRedelivery(delivery, endpoint, clock.now());
      if (created.kind === 'refused') throw new Error(`refused: ${created.why}`);
      const { delivery: added } = created;
      await commit([store.adding(added), recordRedelivery(service, added)]);
      return added;
    },
    /** Ends a delivery as a failure. */
    exhausts: ({ webhookId, generation: of, id }: Delivery) =>
      deliveries.client.send(
        new UpdateCommand({
          TableName: deliveries.name,
          Key: keys.delivery(webhookId, of, id),
          UpdateExpression: 'SET #status = :exhausted',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: { ':exhausted': 'exhausted' },
        }),
      ),
    /** Starts a job for the last hour. */
    started: (asked: Asked = {}) => start(endpoint, asked),
    /** Starts a job of the last hour for another endpoint. */
    startedFor: (other: Endpoint, asked: Asked = {}) => start(other, asked),
    job: ({ id, webhookId }: RedeliveryJob) => jobs.find(tenant, webhookId, id),
    /** The deliveries that a job has created. */
    async made({ createdAt, webhookId }: RedeliveryJob): Promise<Delivery[]> {
      const { items } = await store.list(tenant, webhookId, { limit: 10_000 });
      return items.filter((one) => isFromJob(one) && parseCreationTime(one.id) >= new Date(createdAt));
    },
    /**
     * Processes messages until there are none; failed ones are received again later. @returns the number of
     * messages
     */
    async run(processMessage = worker()): Promise<number> {
      for (let count = 0; ; count += 1) {
        const message = messages.shift();
        if (message === undefined) return count;
        try {
          await processMessage(message);
        } catch {
          clock.elapse(LEASE_SECONDS);
          messages.push(message);
        }
        if (count > 1000) throw new Error('the job does not come to its end');
      }
    },
  };
}
export type TestRedelivery = ReturnType<typeof aRedelivery>;
