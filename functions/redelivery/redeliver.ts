import { mapConcurrently } from '../aws/concurrency.ts';
import { isChannelId, type TraceId } from '../aws/ids.ts';
import type { Log } from '../aws/log-codes.ts';
import { Defect } from '../aws/logger.ts';
import type { Row, Table } from '../aws/table.ts';
import { type Delivery, isOpen, SKIPPED_WHILE, toDeliveryMessage } from '../delivery/delivery.ts';
import { chooseJobLane } from '../delivery/lanes.ts';
import type { deliveryQueues, WorkerQueue } from '../delivery/queues.ts';
import type { deliveryStore } from '../delivery/rows.ts';
import { type BusEvent, NOTICES } from '../events/bus.ts';
import { InProgressError } from '../http/problem.ts';
import type { Endpoint } from '../receivers/endpoint.ts';
import type { endpointStore } from '../receivers/endpoints.ts';
import { computePace } from '../receivers/pace.ts';
import { REDELIVERY_RUN_SHARDS } from '../tenancy/keys.ts';
import { createGenerationCheck, type OrganizationStates } from '../tenancy/organizations.ts';
import { processInRounds, sendMessages, sweep, updateEntries } from '../tenancy/sweep.ts';
import {
  buildRound,
  type JobEnd,
  type LeasedJob,
  type RedeliveryJob,
  type RedeliveryJobRef,
  type RedeliveryRun,
  type redeliveryJobs,
  type redeliveryRounds,
  StopReason,
} from './jobs.ts';
import {
  createJobDelivery,
  type ExaminedDelivery,
  endPageBefore,
  getPlace,
  jobPages,
  type Resend,
} from './selection.ts';

interface RedeliverContext {
  tables: { service: Table; outbox: Table; deliveries: Table };
  jobs: ReturnType<typeof redeliveryRounds>;
  deliveries: Pick<ReturnType<typeof deliveryStore>, 'states' | 'listWaiting'>;
  endpoints: Pick<ReturnType<typeof endpointStore>, 'find'>;
  queues: Pick<ReturnType<typeof deliveryQueues>, 'send'>;
  /** The worker's own queue. */
  rounds: WorkerQueue;
  organizations: OrganizationStates;
  log: Log;
  now: () => Date;
  wait(seconds: number): Promise<unknown>;
}

interface RedeliverSettings {
  /** Longer than the function's timeout. */
  leaseSeconds: number;
  /** A round ends after this time, so that other jobs get their turn. */
  roundSeconds: number;
  /** Deliveries or events per read. */
  pageSize: number;
  /** Most deliveries of a job that wait for their first attempt at a time. */
  window: number;
}

/** Another worker runs the job. The message is kept until that round has made progress. */
class RedeliveryInProgress extends InProgressError {
  override name = 'RedeliveryInProgress';
}

/** Seconds between two checks of a test that a job waits for: a share of the job's age, within these. */
const TEST_CHECK = { share: 0.1, shortest: 2, longest: 60 };

/** Seconds between two checks of what waits: they double while nothing was attempted. */
const CHECK = { shortest: 0.02, longest: 0.5 };
/** Seconds' worth of deliveries that may wait at an endpoint with a limit, so that live ones come between. */
const SECONDS_OF_LIMIT = 2;

const getLogFields = ({ id, webhookId, orgId, traceId }: RedeliveryJobRef & { traceId?: TraceId }) => ({
  ...{ redeliveryId: id, webhookId, orgId, traceId },
});

/**
 * Runs one round of a redelivery job, oldest deliveries first, so that a receiver gets events in their order.
 * A window of its deliveries may wait for their first attempts; when half of them have had theirs, others
 * follow. The job's position never passes a delivery that waits, so the window counts over all rounds: what a
 * round finds beyond the position is its own. A crash and repetition are safe: a delivery is added with the
 * record that names it, the position is recorded once, and an extra message changes nothing. The next round
 * has a message of its own, because SQS limits receives.
 */
export function runRedeliveryJob(context: RedeliverContext, settings: RedeliverSettings) {
  const { jobs, deliveries, endpoints, queues, rounds, log, now, wait } = context;
  const pages = jobPages(context, settings);
  const checkGeneration = createGenerationCheck(context.organizations);

  /** @returns those that were added: another redelivery of an event may have been added meanwhile */
  async function addGroup(job: LeasedJob, group: readonly Resend[]): Promise<Delivery[]> {
    const at = new Date(Math.max(now().getTime(), Date.parse(job.createdAt), Date.parse(job.to)));
    const added = await mapConcurrently(group, group.length, async (resend) => {
      const delivery = createJobDelivery(job, resend.item, at);
      if (!(await jobs.add(job, delivery, resend.record ?? {}))) return [];
      resend.delivery = delivery;
      return [delivery];
    });
    return added.flat();
  }

  /**
   * Resends a page until its deliveries have been attempted or the round's time is over. A stopped job makes
   * no more of them.
   * @returns the first item that is left to do
   */
  async function resendPage(
    job: LeasedJob,
    endpoint: Endpoint,
    page: readonly Resend[],
    { untilMs, isAfterLoss }: { untilMs: number; isAfterLoss: boolean },
  ): Promise<{ left?: ExaminedDelivery | undefined; isStopped?: boolean }> {
    const { maxPerSecond = Number.POSITIVE_INFINITY } = endpoint;
    // A channel's messages are a dialogue: the next one follows the first attempt of the one before.
    const window = isChannelId(job.webhookId)
      ? 1
      : Math.min(settings.window, SECONDS_OF_LIMIT * maxPerSecond);
    let waiting = page.flatMap(({ delivery, isWaiting }) => (delivery && isWaiting ? [delivery] : []));
    const isDone = ({ delivery }: Resend) => delivery !== undefined && !waiting.includes(delivery);
    // The worker before may have been lost before it sent their messages.
    if (isAfterLoss) await sendDeliveries(endpoint, waiting);
    for (let pause = CHECK.shortest; !page.every(isDone); ) {
      const group = page.filter(({ delivery }) => delivery === undefined).slice(0, window - waiting.length);
      if (group.length > 0 && waiting.length <= window / 2) {
        if (!(await jobs.reach(job, getPlace(job, group.at(-1)?.item))))
          return { left: group[0]?.item, isStopped: true };
        const added = await addGroup(job, group);
        await sendDeliveries(endpoint, added);
        waiting.push(...added);
        // The page is planned again.
        if (added.length < group.length) break;
        pause = CHECK.shortest;
      }
      if (now().getTime() >= untilMs) break;
      await wait(pause);
      const stillWaiting = await deliveries.listWaiting(waiting);
      pause = stillWaiting.length < waiting.length ? CHECK.shortest : Math.min(CHECK.longest, 2 * pause);
      waiting = stillWaiting;
    }
    return { left: page.find((resend) => !isDone(resend))?.item };
  }

  async function sendDeliveries(endpoint: Endpoint, added: readonly Delivery[]): Promise<void> {
    if (added.length === 0) return;
    const lane = chooseJobLane(computePace(endpoint.pace, now()));
    const messages = added.map((delivery) => ({ message: toDeliveryMessage(delivery) }));
    const refused = await queues.send(lane, messages);
    // The round is repeated; extra messages change nothing.
    if (refused.length > 0) throw new Error(`the queue did not take ${refused.length} delivery messages`);
  }

  async function end(job: LeasedJob, status: 'done' | 'stopped', reason?: JobEnd['reason']): Promise<void> {
    if (!(await jobs.end(job, { status, reason, at: now() }))) return;
    const { examined, redelivered } = job;
    log('REDELIVERY_ENDED', { ...getLogFields(job), status, reason, examined, redelivered });
  }

  async function sendNextRound(job: LeasedJob, delaySeconds = 0): Promise<void> {
    // Release before sending: the next message must find the job free.
    await jobs.release(job);
    const refused = await rounds.send([buildRound(job, job.round + 1, now())], delaySeconds);
    if (refused.length > 0) throw new Error('the queue did not take the next round of a job');
  }

  /**
   * Seconds until a job may begin: after its range, and after the success of its test.
   * @returns undefined when the test did not succeed
   */
  async function findWait(job: LeasedJob): Promise<number | undefined> {
    const { test, place, to, createdAt, webhookId, generation } = job;
    if (place !== undefined) return 0;
    const left = (Date.parse(to) - now().getTime()) / 1000;
    if (left > 0 || test === undefined) return Math.max(0, left);
    const state = (await deliveries.states([{ id: test, webhookId, generation }])).get(test);
    if (state?.status === 'succeeded') return 0;
    if (state !== undefined && !isOpen(state)) return undefined;
    const age = (now().getTime() - Date.parse(createdAt)) / 1000;
    return Math.min(Math.max(TEST_CHECK.share * age, TEST_CHECK.shortest), TEST_CHECK.longest);
  }

  async function runRound(leased: LeasedJob, isAfterLoss: boolean): Promise<void> {
    const { lease } = leased;
    const untilMs = now().getTime() + settings.roundSeconds * 1000;
    for (let job = leased; ; ) {
      // The purge deletes its rows.
      if ((await checkGeneration(job)) === 'over') return;
      const endpoint = await endpoints.find(job.orgId, job.webhookId);
      if (endpoint === undefined) return end(job, 'stopped', 'endpoint_deleted');
      const inactive = SKIPPED_WHILE[endpoint.status];
      // All its deliveries would be skipped.
      if (inactive !== undefined && job.dryRun !== true)
        return end(job, 'stopped', StopReason.parse(inactive));
      const waitSeconds = await findWait(job);
      if (waitSeconds === undefined) return end(job, 'stopped', 'test_failed');
      if (waitSeconds > 0) {
        await jobs.recordWait(job, now());
        return sendNextRound(job, Math.ceil(waitSeconds));
      }
      const page = await pages.readNext(job, endpoint);
      const resends = await pages.plan(job, endpoint, page.items);
      const { left, isStopped } =
        job.dryRun === true ? {} : await resendPage(job, endpoint, resends, { untilMs, isAfterLoss });
      const { items, place, isLast } = left === undefined ? page : endPageBefore(job, page, left);
      if (place !== undefined && place !== job.place) {
        const resent = resends.map(({ item }) => item).filter((item) => items.includes(item));
        const saved = await jobs.save(job, { place, examined: items.length, resent });
        if (saved === undefined) return log('REDELIVERY_TAKEN_OVER', getLogFields(job));
        job = { ...saved, lease };
      } else await wait(CHECK.longest);
      const { examined, redelivered } = job;
      if (isStopped || job.status !== 'running')
        return log('REDELIVERY_STOPPED', { ...getLogFields(job), examined, redelivered });
      if (isLast) return end(job, 'done');
      if (now().getTime() >= untilMs) return sendNextRound(job);
    }
  }

  return async ({ type, orgId, generation, data }: BusEvent): Promise<void> => {
    if (type !== 'webhook.redelivery')
      throw new Defect(`unexpected event type for a redelivery job: ${type}`);
    const { webhookId, redeliveryId: id, round } = NOTICES[type].parse(data);
    const ref = { id, orgId, generation, webhookId };
    if ((await checkGeneration(ref)) === 'over') return;
    const leased = await jobs.lease(ref, { round, now: now(), leaseSeconds: settings.leaseSeconds });
    if (leased.kind === 'busy') throw new RedeliveryInProgress(`${id} is in progress`);
    if (leased.kind === 'leased') await runRound(leased.job, leased.isAfterLoss);
  };
}

/** Jobs checked concurrently. */
const CONCURRENCY = 8;

/**
 * Resends the message of each running job without a worker, then records the time, so that a lost message
 * does not stop a job.
 * @param graceSeconds seconds without a message after which a job is checked
 */
export function resumeRedeliveryJobs(
  {
    jobs,
    rounds,
    organizations,
    log,
    now,
  }: Pick<RedeliverContext, 'rounds' | 'organizations' | 'log' | 'now'> & {
    jobs: ReturnType<typeof redeliveryJobs>;
  },
  { graceSeconds }: { graceSeconds: number },
) {
  const checkGeneration = createGenerationCheck(organizations);

  /**
   * @returns the jobs whose message was resent, rows removed of jobs that have ended or are gone, jobs that a
   * worker holds, jobs left to the next run after a failure, and whether every job was checked
   * @throws as `sweep`
   */
  return async (hasTime: () => boolean) => {
    const done = { sent: 0, removed: 0, held: 0, left: 0, complete: true };

    function logLeft(run: RedeliveryRun, error: unknown): void {
      log('REDELIVERY_NOT_LOOKED_AT', { ...getLogFields(run), error });
      done.left += 1;
    }

    /** @returns the run with its job when it needs a message */
    async function findUnheld(run: RedeliveryRun): Promise<{ run: RedeliveryRun; job: RedeliveryJob }[]> {
      try {
        const isOver = (await checkGeneration(run)) === 'over';
        const job = isOver ? undefined : await jobs.find(run, run.webhookId, run.id);
        if (job?.status !== 'running') {
          await jobs.removeRun(run);
          done.removed += 1;
        } else if (job.lease !== undefined && job.lease.until > now().getTime()) done.held += 1;
        else return [{ run, job }];
      } catch (error) {
        logLeft(run, error);
      }
      return [];
    }

    async function handle(runs: readonly RedeliveryRun[]): Promise<[]> {
      const unheld = (await mapConcurrently(runs, CONCURRENCY, findUnheld)).flat();
      const sent = await sendMessages(
        unheld,
        ({ job }) => buildRound(job, Math.max(1, job.round), now()),
        rounds.send,
        (error) => log('REDELIVERIES_NOT_SENT', { error }),
      );
      done.sent += sent.length;
      done.left += unheld.length - sent.length;
      for (const { job } of sent)
        log('REDELIVERY_RESUMED', { ...getLogFields(job), round: Math.max(1, job.round) });
      await updateEntries(
        sent,
        ({ run }) => jobs.recordMessage(run, now()),
        ({ run }, error) => logLeft(run, error),
      );
      return [];
    }

    const startedAt = now();
    const until = new Date(startedAt.getTime() - graceSeconds * 1000);
    const takeJobs = processInRounds({
      partitions: REDELIVERY_RUN_SHARDS,
      find: (shard, position?: Row) => jobs.findRuns(shard, until, position),
      getOrganization: ({ orgId }) => orgId,
      handle,
      logUnread: (shard, error) => log('REDELIVERY_SHARD_UNREAD', { shard, error }),
    });
    done.complete = await sweep([takeJobs], { now: startedAt, hasTime, log });
    return done;
  };
}
