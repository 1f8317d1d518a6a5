import { mapConcurrently } from '../aws/concurrency.ts';
import { deriveDeliveryId, type EventId, parseCreationTime } from '../aws/ids.ts';
import type { Log } from '../aws/log-codes.ts';
import { Defect } from '../aws/logger.ts';
import { COMMIT_WINDOW_SECONDS } from '../aws/pages.ts';
import type { deliveryStore } from '../delivery/deliveries.ts';
import { type Delivery, OPEN_STATUSES, toDeliveryMessage } from '../delivery/delivery.ts';
import { chooseJobLane } from '../delivery/lanes.ts';
import type { deliveryQueues, workerQueue } from '../delivery/queues.ts';
import { type ExaminedDelivery, isForStill, type RedeliveryRecord } from '../delivery/redelivery.ts';
import type { redeliveryRecords } from '../delivery/redelivery-records.ts';
import { type BusEvent, NOTICES } from '../events/bus.ts';
import { isFor, listTypesFor } from '../events/events.ts';
import { InProgressError } from '../http/problem.ts';
import type { Endpoint } from '../receivers/endpoint.ts';
import type { endpointStore } from '../receivers/endpoints.ts';
import { computePace } from '../receivers/pace.ts';
import { createGenerationCheck, type OrganizationStates } from '../tenancy/organizations.ts';
import {
  addToCounts,
  buildRound,
  createJobDelivery,
  type ExaminedPage,
  endPageBefore,
  getPlace,
  isWanted,
  type LeasedJob,
  listFirstDeliveries,
  type RedeliveryJob,
  type RedeliveryJobStatus,
  type StopReason,
  selectDeliveries,
} from './job.ts';
import type { redeliveryRounds } from './jobs.ts';
import type { deliveryRanges, eventRanges } from './ranges.ts';

export interface RedeliverContext {
  jobs: ReturnType<typeof redeliveryRounds>;
  deliveries: ReturnType<typeof deliveryStore>;
  endpoints: ReturnType<typeof endpointStore>;
  readDeliveries: ReturnType<typeof deliveryRanges>;
  readEvents: ReturnType<typeof eventRanges>;
  findRecords: ReturnType<typeof redeliveryRecords>;
  queues: Pick<ReturnType<typeof deliveryQueues>, 'send'>;
  /** The worker's own queue. */
  rounds: ReturnType<typeof workerQueue>;
  organizations: OrganizationStates;
  log: Log;
  now: () => Date;
  wait(seconds: number): Promise<unknown>;
}

export interface RedeliverSettings {
  /** Longer than the function's timeout. */
  leaseSeconds: number;
  /** A round ends after this time, so that other jobs get their turn. */
  roundSeconds: number;
  /** Deliveries per shard and read, and events per read. */
  pageRows: number;
  pageEvents: number;
  /** Most deliveries of a job that wait for their first attempt at a time. */
  window: number;
}

/** Another worker runs the job. The message is kept until that round has made progress. */
class RedeliveryInProgress extends InProgressError {
  override name = 'RedeliveryInProgress';
}

/** Seconds between two checks of what waits: they double while nothing was attempted. */
const CHECK = { shortest: 0.02, longest: 0.5 };
/** Seconds' worth of deliveries that may wait at an endpoint with a limit, so that live ones come between. */
const SECONDS_OF_LIMIT = 2;

/** An event that a page resends. */
interface Resend {
  item: ExaminedDelivery;
  /** The event's record as it was read. */
  record: RedeliveryRecord | undefined;
  /** The job's delivery, once it is added. */
  delivery: Delivery | undefined;
  /** Whether an earlier try has added it, and it still waits for its first attempt. */
  isWaiting: boolean;
}

const isOpen = (delivery: Pick<Delivery, 'status'> | undefined): boolean =>
  OPEN_STATUSES.some((open) => open === delivery?.status);

/**
 * Runs one round of a redelivery job, oldest deliveries first, so that a receiver gets events in their order.
 * A window of its deliveries may wait for their first attempts; when half of them have had theirs, others
 * follow. The job's position never passes a delivery that waits, so the window counts over all rounds: what a
 * round finds beyond the position is its own. A crash and repetition are safe: a delivery is added with the
 * record that names it, the position is recorded once, and an extra message changes nothing. The next round
 * has a message of its own, because SQS limits receives.
 */
export function runRedeliveryJob(context: RedeliverContext, settings: RedeliverSettings) {
  const { jobs, deliveries, endpoints, findRecords, queues, rounds, log, now, wait } = context;
  const checkGeneration = createGenerationCheck(context.organizations);

  const getLogFields = ({ id, webhookId, orgId, traceId }: RedeliveryJob) => ({
    redeliveryId: id,
    webhookId,
    orgId,
    traceId,
  });

  /** Why a job cannot continue. A disabled endpoint would skip all its deliveries. */
  const findObstacle = (job: RedeliveryJob, endpoint: Endpoint | undefined): StopReason | undefined => {
    if (endpoint === undefined) return 'endpoint_deleted';
    return endpoint.status === 'auto_disabled' && job.dryRun !== true ? 'endpoint_disabled' : undefined;
  };

  /** Reads the next page, which includes all that earlier rounds may have created deliveries for. */
  async function readPage(job: RedeliveryJob, endpoint: Endpoint): Promise<ExaminedPage> {
    const { place, reach = '' } = job;
    let page: ExaminedPage = { items: [], place, isLast: false };
    do {
      const next = await readAfter(page.place, job, endpoint);
      page = { ...next, items: [...page.items, ...next.items] };
    } while (!page.isLast && (page.place ?? '') < reach);
    if (job.dryRun === true) return { ...page, items: page.items.map((item) => toLive(item, endpoint)) };
    const fanningOut = page.items.find(isBeingFannedOut);
    return fanningOut === undefined ? page : endPageBefore(job, page, fanningOut);
  }

  async function readAfter(
    place: string | undefined,
    job: RedeliveryJob,
    endpoint: Endpoint,
  ): Promise<ExaminedPage> {
    const time = { from: new Date(job.from), to: new Date(job.to) };
    if (job.what === 'failed') return context.readDeliveries(job, time, place, settings.pageRows);
    const types = listTypesFor(endpoint);
    const events = await context.readEvents(job, time, types, place, settings.pageEvents);
    return { ...events, items: await findFirstDeliveries(job, endpoint, events.items) };
  }

  /** The endpoint's own delivery of each event that is for it, as far as there is one. */
  async function findFirstDeliveries(
    { webhookId, generation }: RedeliveryJob,
    endpoint: Endpoint,
    events: Awaited<ReturnType<RedeliverContext['readEvents']>>['items'],
  ): Promise<ExaminedDelivery[]> {
    const refs = events
      .filter((event) => isFor(event, endpoint))
      .map(({ id: eventId, type: eventType }) => ({
        ...{ id: deriveDeliveryId(eventId, webhookId), webhookId, generation, eventId, eventType },
      }));
    const states = await deliveries.states(refs);
    return refs.map(({ id, eventId, eventType }) => {
      const status = states.get(id)?.status;
      return { eventId, eventType, ...(status && { id, status }) };
    });
  }

  /** Whether the fan-out is about to add the delivery of a new event: the job waits for it. */
  const isBeingFannedOut = ({ status, eventId }: ExaminedDelivery): boolean =>
    status === undefined &&
    now().getTime() - parseCreationTime(eventId).getTime() < COMMIT_WINDOW_SECONDS * 1000;

  /** A count does not wait: a new event from after the registration is being delivered. */
  const toLive = (item: ExaminedDelivery, { createdAt }: Endpoint): ExaminedDelivery =>
    isBeingFannedOut(item) && parseCreationTime(item.eventId).getTime() >= Date.parse(createdAt)
      ? { ...item, status: 'pending' }
      : item;

  /**
   * Events to resend of a page, and those that an earlier try has resent: without events that have arrived,
   * also at a predecessor, or that another redelivery is about to deliver.
   */
  async function planPage(
    job: RedeliveryJob,
    endpoint: Endpoint,
    examined: readonly ExaminedDelivery[],
  ): Promise<Resend[]> {
    const { webhookId, generation } = job;
    // After an earlier try, a late fan-out may have added the first delivery of what the job has resent.
    const keepsAll = job.what === 'missing' && job.dryRun !== true;
    const items = examined.filter(
      (item) => isForStill(item, endpoint) && (keepsAll || isWanted(job, item.status)),
    );
    const firsts = await deliveries.states(listFirstDeliveries(job, items));
    const selected = selectDeliveries(job, items, firsts, now());
    const eventIds = selected.map(({ eventId }) => eventId);
    const [records, received] = await Promise.all([
      findRecords(
        job,
        eventIds.map((eventId) => ({ eventId, webhookId })),
      ),
      findReceivedBefore(job, endpoint, eventIds),
    ]);
    const named = records.flatMap(({ deliveryId, jobDeliveryId = deliveryId }) => [
      deliveryId,
      jobDeliveryId,
    ]);
    const states = await deliveries.states([...new Set(named)].map((id) => ({ id, webhookId, generation })));
    const recordOf = new Map(records.map((record) => [record.eventId, record]));
    return selected.flatMap((item): Resend[] => {
      const record = recordOf.get(item.eventId);
      const own =
        record?.redeliveryId === job.id ? states.get(record.jobDeliveryId ?? record.deliveryId) : undefined;
      if (own !== undefined) {
        // Resent for another delivery of the same event, on another page.
        if (job.what === 'failed' && own.redeliveryOf !== item.id) return [];
        const delivery = createJobDelivery(job, item, parseCreationTime(own.id));
        return [{ item, record, delivery, isWaiting: own.status === 'pending' }];
      }
      const hasArrived = record?.succeededId !== undefined || received.has(item.eventId);
      const isBeingResent = record !== undefined && isOpen(states.get(record.deliveryId));
      if (hasArrived || isBeingResent || !isWanted(job, item.status)) return [];
      return [{ item, record, delivery: undefined, isWaiting: false }];
    });
  }

  /** Events that the endpoints have received which this one replaces. */
  async function findReceivedBefore(
    { orgId, generation, what }: RedeliveryJob,
    { predecessor, replaces = [] }: Endpoint,
    eventIds: readonly EventId[],
  ): Promise<ReadonlySet<EventId>> {
    if (what !== 'missing' || predecessor === undefined) return new Set();
    const end = Date.parse(predecessor.disabledAt);
    const before = eventIds.filter((id) => parseCreationTime(id).getTime() <= end);
    const pairs = [predecessor.id, ...replaces].flatMap((webhookId) =>
      before.map((eventId) => ({ eventId, webhookId })),
    );
    const [states, records] = await Promise.all([
      deliveries.states(
        pairs.map(({ eventId, webhookId }) => ({
          ...{ id: deriveDeliveryId(eventId, webhookId), webhookId, generation },
        })),
      ),
      findRecords({ orgId, generation }, pairs),
    ]);
    return new Set([
      ...[...states.values()].flatMap(({ status, eventId }) => (status === 'succeeded' ? [eventId] : [])),
      ...records.flatMap(({ succeededId, eventId }) => (succeededId === undefined ? [] : [eventId])),
    ]);
  }

  /** @returns those that were added: another redelivery of an event may have been added meanwhile */
  async function addGroup(job: LeasedJob, group: readonly Resend[]): Promise<Delivery[]> {
    const at = new Date(Math.max(now().getTime(), Date.parse(job.createdAt)));
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
    { untilMs, isRepeated }: { untilMs: number; isRepeated: boolean },
  ): Promise<{ left?: ExaminedDelivery | undefined; isStopped?: boolean }> {
    const { maxPerSecond = Number.POSITIVE_INFINITY } = endpoint;
    const window = Math.min(settings.window, SECONDS_OF_LIMIT * maxPerSecond);
    let waiting = page.flatMap(({ delivery, isWaiting }) => (delivery && isWaiting ? [delivery] : []));
    const isDone = ({ delivery }: Resend) => delivery !== undefined && !waiting.includes(delivery);
    // The worker before may have been lost before it sent their messages.
    if (isRepeated) await sendMessages(endpoint, waiting);
    for (let pause = CHECK.shortest; !page.every(isDone); ) {
      const group = page.filter(({ delivery }) => delivery === undefined).slice(0, window - waiting.length);
      if (group.length > 0 && waiting.length <= window / 2) {
        const reach = [job.reach ?? '', getPlace(job, group.at(-1)?.item) ?? ''].sort()[1] ?? '';
        if (!(await jobs.reach(job, reach))) return { left: group[0]?.item, isStopped: true };
        const added = await addGroup(job, group);
        await sendMessages(endpoint, added);
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

  async function sendMessages(endpoint: Endpoint, added: readonly Delivery[]): Promise<void> {
    if (added.length === 0) return;
    const lane = chooseJobLane(computePace(endpoint.pace, now()));
    const messages = added.map((delivery) => ({ message: toDeliveryMessage(delivery) }));
    const refused = await queues.send(lane, messages);
    // The round is repeated; extra messages change nothing.
    if (refused.length > 0) throw new Error(`the queue did not take ${refused.length} delivery messages`);
  }

  async function end(
    job: LeasedJob,
    status: Exclude<RedeliveryJobStatus, 'running'>,
    reason?: StopReason,
  ): Promise<void> {
    const ended = await jobs.end(job, { status, at: now(), ...(reason === undefined ? {} : { reason }) });
    const { examined, redelivered } = job;
    if (ended === 'done')
      log('REDELIVERY_ENDED', { ...getLogFields(job), status, reason, examined, redelivered });
  }

  async function sendNextRound(job: LeasedJob): Promise<void> {
    // Release before sending: the next message must find the job free.
    await jobs.release(job);
    const refused = await rounds.send([buildRound(job, job.round + 1, now())]);
    if (refused.length > 0) throw new Error('the queue did not take the next round of a job');
  }

  async function runRound(leased: LeasedJob, isRepeated: boolean): Promise<void> {
    const { lease } = leased;
    const untilMs = now().getTime() + settings.roundSeconds * 1000;
    for (let job = leased; ; ) {
      // The purge deletes its rows.
      if ((await checkGeneration(job)) === 'over') return;
      const endpoint = await endpoints.find(job.orgId, job.webhookId);
      const stopReason = findObstacle(job, endpoint);
      if (endpoint === undefined || stopReason !== undefined) return end(job, 'stopped', stopReason);
      const page = await readPage(job, endpoint);
      const resends = await planPage(job, endpoint, page.items);
      const { left, isStopped } =
        job.dryRun === true ? {} : await resendPage(job, endpoint, resends, { untilMs, isRepeated });
      const { items, place, isLast } = left === undefined ? page : endPageBefore(job, page, left);
      if (place !== undefined && place !== job.place) {
        const done = resends.map(({ item }) => item).filter((item) => items.includes(item));
        const progress = { place, examined: items.length, redelivered: done.length };
        const saved = await jobs.save(job, { ...progress, ...addToCounts(job, done) });
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
    if (leased.kind === 'leased') await runRound(leased.job, leased.isRepeated);
  };
}
