import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import type { BusEvent } from '../../../functions/domain/bus.ts';
import type { Delivery, DeliveryStatus } from '../../../functions/domain/delivery.ts';
import type { Endpoint } from '../../../functions/domain/endpoint.ts';
import { type EndpointId, newId, parseCreationTime } from '../../../functions/domain/ids.ts';
import {
  buildFirstRound,
  createJob,
  isFromJob,
  type RedeliveryJob,
  type RedeliveryJobRef,
} from '../../../functions/domain/redelivery.ts';
import { runRedeliveryJob } from '../../../functions/engine/redeliver.ts';
import { resumeRedeliveryJobs } from '../../../functions/engine/resume-redelivery-jobs.ts';
import { arrivalStore, deliveryStore, recordArrival } from '../../../functions/store/deliveries.ts';
import { deliveryRanges } from '../../../functions/store/delivery-queries.ts';
import { listShards, REDELIVERY_RUN_SHARDS } from '../../../functions/store/keys.ts';
import {
  buildJobKey,
  redeliveryJobs,
  redeliveryRounds,
  redeliveryRuns,
} from '../../../functions/store/redelivery-jobs.ts';
import { committer } from '../../../functions/store/transaction.ts';
import { aDelivery, anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { type Gate, interposed } from '../../doubles/interposed.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';

export const LEASE_SECONDS = 40;
export const GRACE_SECONDS = 900;
/** Of each shard, so that some deliveries are several pages. */
const PAGE_ROWS = 2;

/** Nothing stands in the way. */
const open: Gate = async () => undefined;

/**
 * An endpoint with deliveries of the last hour, and a redelivery job, over the stores themselves with their
 * tables in memory.
 */
export function aRedelivery({ endpoint = anEndpoint(), generation = 0 } = {}) {
  const clock = new VirtualClock();
  const { service, deliveries } = memoryTables();
  const store = deliveryStore(deliveries);
  const jobs = redeliveryJobs(service);
  const arrivals = arrivalStore(service);
  const commit = committer(service.client);
  const standings = memoryOrganizationStates();
  const log = recordedLog();
  const reminded: { lane: string; id: string }[] = [];
  const messages: BusEvent[] = [];
  const batches: number[] = [];
  const tenant = { orgId: endpoint.orgId, generation };
  const runs = redeliveryRuns(service);
  let present: Endpoint | undefined = endpoint;
  let refusesMessages = false;

  /** What takes a job's messages. */
  const queue = {
    async send(events: readonly BusEvent[]) {
      batches.push(events.length);
      if (refusesMessages) return [...events];
      messages.push(...events);
      return [];
    },
  };

  /** A worker. @param gate that each of its calls passes */
  const worker = (gate: Gate = open, roundDeliveries = Number.POSITIVE_INFINITY) =>
    runRedeliveryJob(
      {
        jobs: interposed('jobs', redeliveryRounds(service, commit), gate),
        deliveries: interposed(
          'deliveries',
          {
            range: deliveryRanges(deliveries),
            addOnce: store.addOnce,
            statuses: store.statuses,
          },
          gate,
        ),
        arrivals: interposed('arrivals', arrivals, gate),
        endpoints: interposed('endpoints', { find: async () => present }, gate),
        queues: interposed(
          'queues',
          {
            async send(lane: string, outgoing: readonly { message: { id: string } }[]) {
              reminded.push(...outgoing.map(({ message: { id } }) => ({ lane, id })));
              return [];
            },
          },
          gate,
        ),
        rounds: interposed('rounds', queue, gate),
        organizations: interposed('standings', standings, gate),
        log,
        now: clock.now,
      },
      { leaseSeconds: LEASE_SECONDS, roundSeconds: 10, roundDeliveries, pageRows: PAGE_ROWS },
    );

  /** A worker that takes a second for each page. */
  const slowly = () =>
    worker(async (call, stage) => {
      if (call === 'deliveries.range' && stage === 'calling') clock.elapse(1);
    });

  /** What looks after the messages. @param gate that each of its calls passes */
  const resumer = (gate: Gate = open) =>
    resumeRedeliveryJobs(
      {
        runs: interposed('runs', runs, gate),
        jobs: interposed(
          'jobs',
          { find: (of: RedeliveryJobRef) => jobs.find(of, of.webhookId, of.id) },
          gate,
        ),
        rounds: interposed('rounds', queue, gate),
        organizations: interposed('standings', standings, gate),
        log,
        now: clock.now,
      },
      { shards: REDELIVERY_RUN_SHARDS, graceSeconds: GRACE_SECONDS },
    );

  /** As the route does. */
  async function start(
    { id, orgId }: Endpoint,
    asked: { from?: string; to?: string } = {},
  ): Promise<RedeliveryJob> {
    const order = createJob(
      { from: later(NOW, -seconds(3600)).toISOString(), statuses: ['exhausted', 'skipped'], ...asked },
      { id: id as EndpointId, status: 'active' },
      { tenant: { orgId, generation }, now: clock.now(), traceId: 'a-trace' },
    );
    if (order.kind === 'refused') throw new Error(`refused: ${order.why}`);
    await commit(jobs.start(order.job));
    messages.push(buildFirstRound(order.job));
    return order.job;
  }

  return {
    clock,
    log,
    standings,
    resumer,
    /** The rows of jobs that run, whenever somebody was reminded of them. */
    async runs() {
      const found = await Promise.all(
        listShards(REDELIVERY_RUN_SHARDS).map((shard) => runs.find(shard, later(clock.now(), seconds(1)))),
      );
      return found.flatMap(({ entries }) => entries);
    },
    /** How many messages were sent at once, each time. */
    batches,
    /** Deletes the row of a job, as time does. */
    forget: (job: RedeliveryJob) =>
      service.client.send(new DeleteCommand({ TableName: service.name, Key: buildJobKey(job) })),
    /** From now on its queue takes nothing, or does again. */
    refusesMessages: (does: boolean) => {
      refusesMessages = does;
    },
    endpoint,
    tenant,
    reminded,
    worker,
    slowly,
    jobs,
    commit,
    store,
    /** What the queue of the worker holds. */
    messages,
    /** From now on the endpoint is so, or gone. */
    becomes: (changes: Partial<Endpoint> | undefined) => {
      present = changes && { ...endpoint, ...changes };
    },
    /** A delivery of so many seconds before now, of an event of its own unless it is given. */
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
    /** A delivery that repeats another arrives, as its settlement notes. */
    arrives: (delivery: Delivery) => commit([recordArrival(service, delivery)]),
    /** Starts a job for the last hour. */
    started: (asked: { from?: string; to?: string } = {}) => start(endpoint, asked),
    /** The same for another endpoint. */
    startedFor: (other: Endpoint) => start(other),
    job: ({ id }: RedeliveryJob) => jobs.find(tenant, endpoint.id as EndpointId, id),
    /** The deliveries that a job has made. */
    async made({ createdAt }: RedeliveryJob): Promise<Delivery[]> {
      const { items } = await store.list(tenant, endpoint.id, { limit: 10_000 });
      return items.filter((one) => isFromJob(one) && parseCreationTime(one.id) >= new Date(createdAt));
    },
    /**
     * Has messages dealt with until there are none, those that fail again later. @returns how many there were
     */
    async run(deal = worker()): Promise<number> {
      for (let count = 0; ; count += 1) {
        const message = messages.shift();
        if (message === undefined) return count;
        try {
          await deal(message);
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
