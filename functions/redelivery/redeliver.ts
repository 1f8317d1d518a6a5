import { type Failure, mapConcurrently } from '../aws/concurrency.ts';
import {
  type DeliveryId,
  deriveDeliveryId,
  type EventId,
  type OrgId,
  parseCreationTime,
} from '../aws/ids.ts';
import type { Log } from '../aws/log-codes.ts';
import { Defect } from '../aws/logger.ts';
import { COMMIT_WINDOW_SECONDS } from '../aws/pages.ts';
import {
  type Delivery,
  type DeliveryRef,
  OPEN_STATUSES,
  type OutgoingMessage,
  toDeliveryMessage,
} from '../delivery/delivery.ts';
import { chooseJobLane, type JobLane } from '../delivery/lanes.ts';
import { type ExaminedDelivery, isForStill, type RedeliveryMark } from '../delivery/redelivery.ts';
import { type BusEvent, NOTICES } from '../events/bus.ts';
import type { ExaminedEvent } from '../events/event-log.ts';
import { type EventType, isFor, listTypesFor } from '../events/events.ts';
import { InProgressError } from '../http/problem.ts';
import type { Endpoint } from '../receivers/endpoint.ts';
import { computePace } from '../receivers/pace.ts';
import { createGenerationCheck, type OrganizationStates } from '../tenancy/organizations.ts';
import {
  addToCounts,
  buildNextRound,
  createJobDelivery,
  cutPage,
  type ExaminedPage,
  endPageBefore,
  isWanted,
  type LeasedJob,
  listFirstDeliveries,
  type RedeliveryJob,
  type RedeliveryJobRef,
  type RedeliveryJobStatus,
  type StopReason,
  selectDeliveries,
} from './job.ts';

type DeliveryState = Pick<Delivery, 'id' | 'status' | 'redeliveryOf'>;

export interface RedeliverPorts {
  jobs: {
    lease(
      ref: RedeliveryJobRef,
      terms: { round: number; now: Date; leaseSeconds: number },
    ): Promise<{ kind: 'leased'; job: LeasedJob; isRepeated: boolean } | { kind: 'busy' } | { kind: 'over' }>;
    /** Undefined when another worker has the lease. */
    save(
      job: LeasedJob,
      page: {
        place: string;
        examined: number;
        redelivered: number;
        counts: ReturnType<typeof addToCounts>;
      },
    ): Promise<RedeliveryJob | undefined>;
    /** Whether the job has not been stopped. */
    isRunning(job: RedeliveryJobRef): Promise<boolean>;
    release(job: LeasedJob): Promise<void>;
    end(
      job: LeasedJob,
      end: { status: Exclude<RedeliveryJobStatus, 'running'>; reason?: StopReason; at: Date },
    ): Promise<'done' | 'refused'>;
  };
  deliveries: {
    /** Deliveries created in a time range, oldest first. */
    range(
      of: RedeliveryJobRef,
      time: { from: Date; to: Date },
      after: string | undefined,
      limit: number,
    ): Promise<{ items: ExaminedDelivery[]; place: string; isLast: boolean }>;
    add(delivery: Delivery): Promise<'added' | 'exists'>;
    /** Those that have not had their first attempt, as far as it is known. */
    listWaiting<T extends DeliveryRef>(refs: readonly T[]): Promise<T[]>;
    /** States of those that exist. */
    states(refs: readonly DeliveryRef[]): Promise<ReadonlyMap<DeliveryId, DeliveryState>>;
  };
  events: {
    /** Events of these types that happened in a time range, oldest first. */
    range(
      of: RedeliveryJobRef,
      time: { from: Date; to: Date },
      types: readonly EventType[],
      after: string | undefined,
      limit: number,
    ): Promise<{ items: ExaminedEvent[]; place: string; isLast: boolean }>;
  };
  arrivals: {
    /** Events that a redelivery has delivered, with that redelivery. */
    of(
      receiver: Pick<RedeliveryJob, 'orgId' | 'generation' | 'webhookId'>,
      events: readonly EventId[],
    ): Promise<ReadonlyMap<EventId, DeliveryId>>;
  };
  marks: {
    /** The latest redeliveries of events. */
    of(job: RedeliveryJob, events: readonly EventId[]): Promise<ReadonlyMap<EventId, RedeliveryMark>>;
    /**
     * Sets the mark of a redelivery before it is added.
     * @param seen the mark as it was read
     * @returns false when another redelivery has set it since
     */
    set(job: RedeliveryJob, delivery: Delivery, seen: DeliveryId | undefined): Promise<boolean>;
  };
  endpoints: { find(orgId: OrgId, id: Endpoint['id']): Promise<Endpoint | undefined> };
  /** @returns messages that the queue did not take */
  queues: { send(lane: JobLane, messages: readonly OutgoingMessage[]): Promise<Failure<unknown>[]> };
  /**
   * The worker's own queue.
   * @returns events that it did not take
   */
  rounds: { send(events: readonly BusEvent[]): Promise<Failure<BusEvent>[]> };
  organizations: OrganizationStates;
  log: Log;
  now: () => Date;
  wait(seconds: number): Promise<unknown>;
}

export interface RedeliverSettings {
  /** Longer than the function's timeout. */
  leaseSeconds: number;
  /** A round ends after this time, or after a number of resends, so that other jobs get their turn. */
  roundSeconds: number;
  roundDeliveries: number;
  /** Deliveries per shard and read. */
  pageRows: number;
  /** Events per read of a job that only counts. One that resends reads a page's. */
  pageEvents: number;
  /** Most deliveries of a job that wait for their first attempt at a time. */
  mostAtOnce: number;
}

/** Another worker runs the job. The message is kept until that round has made progress. */
class RedeliveryInProgress extends InProgressError {
  override name = 'RedeliveryInProgress';
}

/** Most deliveries that a page resends. A page costs about ten requests. */
const PAGE_RESENDS = 32;
/** Seconds between two checks of what waits: they double while nothing was attempted. */
const CHECK = { shortest: 0.02, longest: 0.5 };
/** Seconds' worth of deliveries that may wait at an endpoint with a limit, so that live ones come between. */
const SECONDS_OF_LIMIT = 2;

/** The deliveries of a page up to the first item that is left. */
interface ProcessedPage {
  added: Delivery[];
  left?: ExaminedDelivery | undefined;
  /** Whether the job is known to be stopped. */
  isStopped?: boolean;
}

/** An event that a page resends. */
interface Candidate {
  /** What the job has examined. */
  item: ExaminedDelivery;
  delivery: Delivery;
  /** The event's mark as it was read. */
  seen: DeliveryId | undefined;
  /** Whether an earlier try has added the delivery, and whether it waits for its first attempt. */
  state: 'new' | 'waiting' | 'attempted';
}

/**
 * Runs one round of a redelivery job, oldest deliveries first, so that a receiver gets events in their order.
 * A window of its deliveries may wait for their first attempts; when half of them have had theirs, others
 * follow. The job's position never passes a delivery that waits, so the window counts over all rounds: what a
 * round finds beyond the position is its own. A crash and repetition are safe: a mark names the delivery of
 * an event before that is added, the position is recorded once, and an extra message changes nothing. The
 * next round has a message of its own, because SQS limits receives.
 */
export function runRedeliveryJob(ports: RedeliverPorts, settings: RedeliverSettings) {
  const { jobs, deliveries, events, arrivals, marks, endpoints, queues, rounds, log, now, wait } = ports;
  const checkGeneration = createGenerationCheck(ports.organizations);

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

  async function readPage(job: RedeliveryJob, endpoint: Endpoint): Promise<ExaminedPage> {
    const time = { from: new Date(job.from), to: new Date(job.to) };
    if (job.what === 'missing') return readMissing(job, endpoint, time);
    const page = await deliveries.range(job, time, job.place, settings.pageRows);
    return job.dryRun === true ? page : cutPage(job, page, PAGE_RESENDS);
  }

  /** Reads events with the endpoint's delivery of each, if it has one. */
  async function readMissing(
    job: RedeliveryJob,
    endpoint: Endpoint,
    time: { from: Date; to: Date },
  ): Promise<ExaminedPage> {
    const { webhookId, generation } = job;
    const limit = job.dryRun === true ? settings.pageEvents : Math.min(settings.pageEvents, PAGE_RESENDS);
    const { items: found, ...rest } = await events.range(job, time, listTypesFor(endpoint), job.place, limit);
    const refs = found
      .filter((event) => isFor(event, endpoint))
      .map((event) => ({ event, ref: { id: deriveDeliveryId(event.id, webhookId), webhookId, generation } }));
    const states = await deliveries.states(refs.map(({ ref }) => ref));
    const items = refs.map(({ event: { id: eventId, type: eventType }, ref: { id } }): ExaminedDelivery => {
      const state = states.get(id);
      return { eventId, eventType, ...(state && { id, status: state.status }) };
    });
    if (job.dryRun === true) return { ...rest, items: items.map((item) => toLive(item, endpoint)) };
    const page = { ...rest, items };
    const fanningOut = items.find(isBeingFannedOut);
    return fanningOut === undefined ? page : endPageBefore(job, page, fanningOut);
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
   * Deliveries to create for a page, and those that an earlier try has created: without events that have
   * arrived, also at a predecessor, or that another redelivery is about to deliver.
   * @param isResumed whether an earlier try may have processed a part of the page
   */
  async function planPage(
    job: RedeliveryJob,
    endpoint: Endpoint,
    examined: readonly ExaminedDelivery[],
    isResumed: boolean,
  ): Promise<Candidate[]> {
    const { webhookId, generation } = job;
    // A late fan-out may have added the first delivery since.
    const keepsAll = isResumed && job.what === 'missing';
    const items = examined.filter(
      (item) => isForStill(item, endpoint) && (keepsAll || isWanted(job, item.status)),
    );
    const firsts = await deliveries.states(listFirstDeliveries(job, items));
    const statuses = new Map([...firsts].map(([id, { status }]) => [id, status]));
    const selected = selectDeliveries(job, items, statuses, now());
    const eventIds = selected.map(({ eventId }) => eventId);
    const [arrived, received, marked] = await Promise.all([
      arrivals.of(job, eventIds),
      findReceivedBefore(job, endpoint, eventIds),
      marks.of(job, eventIds),
    ]);
    const ids = [...marked.values()].flatMap(({ deliveryId, jobDeliveryId = deliveryId }) => [
      deliveryId,
      jobDeliveryId,
    ]);
    const states = await deliveries.states([...new Set(ids)].map((id) => ({ id, webhookId, generation })));
    return selected.flatMap((item): Candidate[] => {
      const { eventId } = item;
      const { deliveryId: seen, redeliveryId, jobDeliveryId } = marked.get(eventId) ?? {};
      const own = redeliveryId === job.id ? jobDeliveryId : undefined;
      const state = own && states.get(own);
      // A single redelivery may have replaced the mark since.
      if (own && (state !== undefined || own === seen)) {
        // Resent for another delivery of the same event, on another page.
        if (job.what === 'failed' && state !== undefined && state.redeliveryOf !== item.id) return [];
        const delivery = createJobDelivery(job, item, parseCreationTime(own));
        const isWaiting = state?.status === 'pending';
        return [{ item, delivery, seen, state: isWaiting ? 'waiting' : state ? 'attempted' : 'new' }];
      }
      const isOpen = seen !== undefined && isStillOpen(seen, states.get(seen));
      if (isOpen || arrived.has(eventId) || received.has(eventId) || !isWanted(job, item.status)) return [];
      const at = new Date(Math.max(now().getTime(), Date.parse(job.createdAt)));
      return [{ item, delivery: createJobDelivery(job, item, at), seen, state: 'new' }];
    });
  }

  /** Whether a redelivery that the job has not created is open, or just being added. */
  function isStillOpen(id: DeliveryId, state: DeliveryState | undefined): boolean {
    if (state !== undefined) return OPEN_STATUSES.some((open) => open === state.status);
    // A stopped job's worker still completes its round, which ends before its lease.
    return parseCreationTime(id).getTime() > now().getTime() - settings.leaseSeconds * 1000;
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
    const found = await Promise.all(
      [predecessor.id, ...replaces].map(async (webhookId) => {
        const byFirst = new Map(before.map((eventId) => [deriveDeliveryId(eventId, webhookId), eventId]));
        const [states, arrived] = await Promise.all([
          deliveries.states([...byFirst.keys()].map((id) => ({ id, webhookId, generation }))),
          arrivals.of({ orgId, generation, webhookId }, before),
        ]);
        const succeeded = [...states.values()].filter(({ status }) => status === 'succeeded');
        return [...arrived.keys(), ...succeeded.flatMap(({ id }) => byFirst.get(id) ?? [])];
      }),
    );
    return new Set(found.flat());
  }

  /** @returns those that were added: another redelivery may have marked an event meanwhile */
  async function addGroup(job: RedeliveryJob, group: readonly Candidate[]): Promise<Candidate[]> {
    const added = await mapConcurrently(group, group.length, async (candidate) => {
      const isMarked = await marks.set(job, candidate.delivery, candidate.seen);
      if (isMarked) await deliveries.add(candidate.delivery);
      return isMarked;
    });
    return group.filter((_, index) => added[index]);
  }

  /**
   * Resends a page until its deliveries have been attempted or the round's time is over. A stopped job makes
   * no more of them.
   * @returns the deliveries that come before the first one that was not attempted
   */
  async function resend(
    job: RedeliveryJob,
    endpoint: Endpoint,
    plan: readonly Candidate[],
    { untilMs, isRepeated }: { untilMs: number; isRepeated: boolean },
  ): Promise<ProcessedPage> {
    const { maxPerSecond = Number.POSITIVE_INFINITY } = endpoint;
    const most = Math.min(settings.mostAtOnce, SECONDS_OF_LIMIT * maxPerSecond);
    const todo = plan.filter(({ state }) => state === 'new');
    let waiting = plan.filter(({ state }) => state === 'waiting');
    // The worker before may have been lost before it sent their messages.
    if (isRepeated) await sendMessages(endpoint, waiting);
    const taken: Candidate[] = [];
    let dropped: Candidate[] = [];
    for (let pause = CHECK.shortest; ; ) {
      const isNext = todo.length > 0 && waiting.length <= most / 2;
      if (isNext && !(await jobs.isRunning(job))) dropped = todo.splice(0);
      else if (isNext) {
        const group = todo.splice(0, most - waiting.length);
        const added = await addGroup(job, group);
        await sendMessages(endpoint, added);
        waiting.push(...added);
        taken.push(...group.filter((candidate) => !added.includes(candidate)));
        pause = CHECK.shortest;
      }
      const isDone = todo.length === 0 && waiting.length === 0;
      if (isDone || taken.length > 0 || now().getTime() >= untilMs) break;
      await wait(pause);
      const attempted = await findAttempted(waiting);
      pause = attempted.size > 0 ? CHECK.shortest : Math.min(CHECK.longest, 2 * pause);
      waiting = waiting.filter(({ delivery }) => !attempted.has(delivery.id));
    }
    const open = new Set([...taken, ...waiting, ...todo, ...dropped]);
    const end = plan.findIndex((candidate) => open.has(candidate));
    const done = end === -1 ? plan : plan.slice(0, end);
    const isStopped = dropped.length > 0;
    return { added: done.map(({ delivery }) => delivery), left: plan[end]?.item, isStopped };
  }

  async function findAttempted(waiting: readonly Candidate[]): Promise<ReadonlySet<DeliveryId>> {
    const all = waiting.map(({ delivery }) => delivery);
    const still = new Set((await deliveries.listWaiting(all)).map(({ id }) => id));
    return new Set(all.map(({ id }) => id).filter((id) => !still.has(id)));
  }

  async function sendMessages(endpoint: Endpoint, added: readonly Candidate[]): Promise<void> {
    if (added.length === 0) return;
    const lane = chooseJobLane(computePace(endpoint.pace, now()));
    const refused = await queues.send(
      lane,
      added.map(({ delivery }) => ({ message: toDeliveryMessage(delivery) })),
    );
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
    const refused = await rounds.send([buildNextRound(job, now())]);
    if (refused.length > 0) throw new Error('the queue did not take the next round of a job');
  }

  async function runRound(leased: LeasedJob, isRepeated: boolean): Promise<void> {
    const { lease } = leased;
    const untilMs = now().getTime() + settings.roundSeconds * 1000;
    const redeliveredLimit = leased.redelivered + settings.roundDeliveries;
    for (let job = leased, isResumed = true; ; ) {
      // The purge deletes its rows.
      if ((await checkGeneration(job)) === 'over') return;
      const endpoint = await endpoints.find(job.orgId, job.webhookId);
      const stopReason = findObstacle(job, endpoint);
      if (endpoint === undefined || stopReason !== undefined) return end(job, 'stopped', stopReason);
      const examined = await readPage(job, endpoint);
      const plan = await planPage(job, endpoint, examined.items, isResumed);
      const { added, left, isStopped }: ProcessedPage =
        job.dryRun === true
          ? { added: plan.map(({ delivery }) => delivery) }
          : await resend(job, endpoint, plan, { untilMs, isRepeated: isResumed && isRepeated });
      const { items, place, isLast } = left === undefined ? examined : endPageBefore(job, examined, left);
      isResumed = left !== undefined;
      if (place !== undefined && place !== job.place) {
        const page = {
          place,
          examined: items.length,
          redelivered: added.length,
          counts: addToCounts(job, added),
        };
        const saved = await jobs.save(job, page);
        if (saved === undefined) {
          log('REDELIVERY_TAKEN_OVER', getLogFields(job));
          return;
        }
        job = { ...saved, lease };
      } else if (left === undefined) await wait(CHECK.longest);
      if (isStopped || job.status !== 'running') {
        const { examined: inAll, redelivered } = job;
        log('REDELIVERY_STOPPED', { ...getLogFields(job), examined: inAll, redelivered });
        return;
      }
      if (isLast) return end(job, 'done');
      if (now().getTime() >= untilMs || job.redelivered >= redeliveredLimit) return sendNextRound(job);
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
