import { type BusEvent, NOTICES } from '../domain/bus.ts';
import {
  createMissedDelivery,
  type Delivery,
  type DeliveryMessage,
  type DeliveryRef,
  OPEN_STATUSES,
  type OutgoingMessage,
  toDeliveryMessage,
} from '../domain/delivery.ts';
import type { Endpoint } from '../domain/endpoint.ts';
import { type EventType, isFor, listTypesFor } from '../domain/events.ts';
import { type DeliveryId, type EventId, type OrgId, parseCreationTime } from '../domain/ids.ts';
import { chooseJobLane, type JobLane } from '../domain/lanes.ts';
import { Defect, InProgressError } from '../domain/problem.ts';
import { isForStill } from '../domain/redelivery.ts';
import {
  addToCounts,
  buildNextRound,
  createRedeliveries,
  cutPage,
  type ExaminedDelivery,
  type ExaminedEvent,
  endPageBefore,
  type LeasedJob,
  listFirstDeliveries,
  type RedeliveryJob,
  type RedeliveryJobRef,
  type RedeliveryJobStatus,
  type StopReason,
} from '../domain/redelivery-job.ts';
import { createPace, type RedeliveryPace } from '../domain/redelivery-pace.ts';
import { createGenerationCheck, type OrganizationStates } from '../domain/sandbox.ts';
import type { Log } from '../platform/log-codes.ts';
import { mapConcurrently } from './concurrency.ts';

export interface RedeliverPorts {
  jobs: {
    lease(
      ref: RedeliveryJobRef,
      terms: { round: number; now: Date; leaseSeconds: number },
    ): Promise<{ kind: 'leased'; job: LeasedJob } | { kind: 'busy' } | { kind: 'over' }>;
    /** Undefined when another worker has the lease. */
    save(
      job: LeasedJob,
      page: {
        place: string;
        examined: number;
        redelivered: number;
        counts: ReturnType<typeof addToCounts>;
        at: Date;
        atOnce: number;
      },
    ): Promise<RedeliveryJob | undefined>;
    /** @param keepsPage whether the next round continues the page, under the same ids */
    release(job: LeasedJob, keepsPage: boolean): Promise<void>;
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
    /** Returns the stored delivery: this one, or an earlier one with the same id. */
    addOnce(delivery: Delivery): Promise<Delivery>;
    /** Those that have not had their first attempt, as far as it is known. */
    listWaiting<T extends DeliveryRef>(refs: readonly T[]): Promise<T[]>;
    /** Statuses of those that exist. */
    statuses(refs: readonly DeliveryRef[]): Promise<ReadonlyMap<DeliveryId, Delivery['status']>>;
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
    of(job: RedeliveryJob, events: readonly EventId[]): Promise<ReadonlyMap<EventId, DeliveryId>>;
  };
  marks: {
    /** The latest redelivery of events. */
    of(job: RedeliveryJob, events: readonly EventId[]): Promise<ReadonlyMap<EventId, DeliveryId>>;
    /**
     * Sets the mark of a redelivery before it is added.
     * @param seen the mark as it was read
     * @returns false when another redelivery has set it since
     */
    set(delivery: Delivery, seen: DeliveryId | undefined): Promise<boolean>;
  };
  endpoints: { find(orgId: OrgId, id: Endpoint['id']): Promise<Endpoint | undefined> };
  /** @returns messages that the queue did not take */
  queues: { send(lane: JobLane, messages: readonly OutgoingMessage[]): Promise<DeliveryMessage[]> };
  /**
   * The worker's own queue.
   * @returns events that it did not take
   */
  rounds: { send(events: readonly BusEvent[]): Promise<BusEvent[]> };
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

/**
 * Most deliveries that a page resends. A page costs about ten requests, and a stopped job ends with its page.
 */
const PAGE_RESENDS = 32;
/** Seconds between two checks of whether a group has been attempted: a share of the time it has taken. */
const CHECK = { share: 1 / 8, atLeast: 0.02, atMost: 0.5 };
/** Share of the last group's time before the first check: less than all of it, or it could only grow. */
const FIRST_CHECK = 7 / 8;

/**
 * Runs one round of a redelivery job, oldest deliveries first, so that a receiver gets events in their order:
 * reads a page, adds the new deliveries and sends their messages in groups, each after the first attempts of
 * the one before, and records the position. So live deliveries wait behind one group at most. A crash and
 * repetition are safe: deliveries are derived from job, page and event, the position is recorded once, and an
 * extra message changes nothing. The next round has a message of its own, because SQS limits receives.
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

  /** A part of what the job examines, as deliveries. */
  interface ExaminedPage {
    items: ExaminedDelivery[];
    place: string;
    isLast: boolean;
  }

  async function readPage(job: RedeliveryJob, endpoint: Endpoint, atOnce: number): Promise<ExaminedPage> {
    const time = { from: new Date(job.from), to: new Date(job.to) };
    if (job.what === 'missing') return readMissing(job, endpoint, time, atOnce);
    const page = await deliveries.range(job, time, job.place, settings.pageRows);
    return job.dryRun === true ? page : cutPage(job, page, PAGE_RESENDS);
  }

  /** Reads events with the endpoint's delivery of each. An event that it has none of gets a skipped one. */
  async function readMissing(
    job: RedeliveryJob,
    endpoint: Endpoint,
    time: { from: Date; to: Date },
    atOnce: number,
  ): Promise<ExaminedPage> {
    const limit = job.dryRun === true ? settings.pageEvents : Math.min(settings.pageEvents, PAGE_RESENDS);
    const page = await events.range(job, time, listTypesFor(endpoint), job.place, limit);
    const ownEvents = page.items.filter((event) => isFor(event, endpoint));
    const missed = ownEvents.map((event) => ({ event, delivery: createMissedDelivery(event, job, now()) }));
    const known = await deliveries.statuses(missed.map(({ delivery }) => delivery));
    const items = await mapConcurrently(missed, atOnce, async ({ delivery }) => {
      const status = known.get(delivery.id);
      if (status !== undefined) return { ...delivery, status };
      return job.dryRun === true ? delivery : deliveries.addOnce(delivery);
    });
    return { ...page, items };
  }

  /**
   * Deliveries to create for a page: without events that have arrived, or that an earlier job is still
   * redelivering, except by this page in an earlier try.
   */
  async function buildRedeliveries(
    job: RedeliveryJob,
    endpoint: Endpoint,
    examined: readonly ExaminedDelivery[],
  ) {
    const items = examined.filter((delivery) => isForStill(delivery, endpoint));
    const firsts = await deliveries.statuses(listFirstDeliveries(job, items));
    const redeliveries = createRedeliveries(job, items, firsts, now());
    const eventIds = redeliveries.map(({ eventId }) => eventId);
    const [arrived, marked] = await Promise.all([arrivals.of(job, eventIds), marks.of(job, eventIds)]);
    const open = await findOpen(job, redeliveries, marked);
    const wanted = redeliveries.filter(
      ({ id, eventId }) => (arrived.get(eventId) ?? id) === id && !open.has(eventId),
    );
    return { wanted, marked };
  }

  /** Events with an open redelivery of an earlier job, or one that is just being added. */
  async function findOpen(
    job: RedeliveryJob,
    redeliveries: readonly Delivery[],
    marked: ReadonlyMap<EventId, DeliveryId>,
  ): Promise<ReadonlySet<EventId>> {
    const others = redeliveries.flatMap(({ id, eventId }) => {
      const other = marked.get(eventId);
      return other === undefined || other === id ? [] : [{ id: other, eventId }];
    });
    const { webhookId, generation } = job;
    const statuses = await deliveries.statuses(others.map(({ id }) => ({ id, webhookId, generation })));
    // A stopped job's worker still completes its page, which ends before its lease.
    const pageStart = now().getTime() - settings.leaseSeconds * 1000;
    const isOpen = (id: DeliveryId) => {
      const status = statuses.get(id);
      if (status === undefined) return parseCreationTime(id).getTime() > pageStart;
      return OPEN_STATUSES.some((open) => open === status);
    };
    return new Set(others.flatMap(({ id, eventId }) => (isOpen(id) ? [eventId] : [])));
  }

  /**
   * @returns the deliveries of this page: an event that failed before in the job's range has its delivery
   * from there
   */
  async function addGroup(
    group: readonly Delivery[],
    marked: ReadonlyMap<EventId, DeliveryId>,
  ): Promise<Delivery[]> {
    const stored = await mapConcurrently(group, group.length, async (delivery) =>
      (await marks.set(delivery, marked.get(delivery.eventId))) ? deliveries.addOnce(delivery) : undefined,
    );
    return group.filter(({ redeliveryOf }, index) => stored[index]?.redeliveryOf === redeliveryOf);
  }

  /**
   * Waits as long as a round takes, also where the round ends meanwhile: the next one does not know this
   * group.
   * @returns those that are still waiting for their first attempt
   */
  async function waitForAttempts(
    group: readonly Delivery[],
    { startedMs, firstSeconds }: { startedMs: number; firstSeconds: number },
  ): Promise<readonly Delivery[]> {
    const untilMs = startedMs + settings.roundSeconds * 1000;
    const getElapsed = () => (now().getTime() - startedMs) / 1000;
    const computePause = (seconds: number) => Math.min(CHECK.atMost, Math.max(CHECK.atLeast, seconds));
    let pause = computePause(firstSeconds - getElapsed());
    for (let waiting = group; ; ) {
      if (waiting.length === 0 || now().getTime() >= untilMs) return waiting;
      await wait(pause);
      waiting = await deliveries.listWaiting(waiting);
      pause = computePause(getElapsed() * CHECK.share);
    }
  }

  /**
   * Resends a page in groups until the round's time is over, and leaves the rest to the next round. For a
   * receiver that takes longer than a round it then has as many deliveries waiting as it may.
   * @returns the deliveries that were added, and the first one that was left
   */
  async function resend(
    job: RedeliveryJob,
    endpoint: Endpoint,
    items: readonly ExaminedDelivery[],
    { pace, untilMs }: { pace: RedeliveryPace; untilMs: number },
  ): Promise<{ added: Delivery[]; left?: Delivery | undefined }> {
    const { wanted, marked } = await buildRedeliveries(job, endpoint, items);
    const all: Delivery[] = [];
    let first = 0;
    const send = async (atOnce: number) => {
      const group = wanted.slice(first, first + atOnce);
      first += group.length;
      const added = await addGroup(group, marked);
      all.push(...added);
      if (added.length > 0) await sendMessages(endpoint, added);
      return added;
    };
    for (let isOver = false; first < wanted.length && !isOver; ) {
      const startedMs = now().getTime();
      const added = await send(pace.atOnce);
      if (added.length === 0) continue;
      const firstSeconds = FIRST_CHECK * pace.lastSeconds;
      const waiting = await waitForAttempts(added, { startedMs, firstSeconds });
      isOver = now().getTime() >= untilMs;
      if (waiting.length === 0) pace.learn(added.length, (now().getTime() - startedMs) / 1000);
      else await send(pace.most - waiting.length);
    }
    return { added: all, left: wanted[first] };
  }

  async function sendMessages(endpoint: Endpoint, added: readonly Delivery[]): Promise<void> {
    const lane = chooseJobLane(endpoint, now());
    const refused = await queues.send(
      lane,
      added.map((delivery) => ({ message: toDeliveryMessage(delivery) })),
    );
    // The page is repeated; extra messages change nothing.
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

  async function sendNextRound(job: LeasedJob, keepsPage: boolean): Promise<void> {
    // Release before sending: the next message must find the job free.
    await jobs.release(job, keepsPage);
    const refused = await rounds.send([buildNextRound(job, now())]);
    if (refused.length > 0) throw new Error('the queue did not take the next round of a job');
  }

  /** Resends or counts a page. */
  async function processPage(
    job: RedeliveryJob,
    endpoint: Endpoint,
    items: readonly ExaminedDelivery[],
    terms: { pace: RedeliveryPace; untilMs: number },
  ): Promise<{ added: Delivery[]; left?: Delivery | undefined }> {
    if (job.dryRun !== true) return resend(job, endpoint, items, terms);
    return { added: (await buildRedeliveries(job, endpoint, items)).wanted };
  }

  async function runRound(leased: LeasedJob): Promise<void> {
    const { lease } = leased;
    const untilMs = now().getTime() + settings.roundSeconds * 1000;
    const pace = createPace(settings.mostAtOnce, leased.atOnce);
    const redeliveredLimit = leased.redelivered + settings.roundDeliveries;
    for (let job = leased; ; ) {
      // The purge deletes its rows.
      if ((await checkGeneration(job)) === 'over') return;
      const endpoint = await endpoints.find(job.orgId, job.webhookId);
      const stopReason = findObstacle(job, endpoint);
      if (endpoint === undefined || stopReason !== undefined) return end(job, 'stopped', stopReason);
      const examined = await readPage(job, endpoint, pace.atOnce);
      const { added, left } = await processPage(job, endpoint, examined.items, { pace, untilMs });
      const { items, place, isLast } = left === undefined ? examined : endPageBefore(job, examined, left);
      // An earlier try may have added the rest of the page: it keeps its ids, so that it counts once.
      const keepsPage = left !== undefined;
      const page = {
        place,
        examined: items.length,
        redelivered: added.length,
        counts: addToCounts(job, added),
        at: keepsPage && job.pageAt !== undefined ? new Date(job.pageAt) : now(),
        atOnce: pace.atOnce,
      };
      const saved = await jobs.save(job, page);
      if (saved === undefined) {
        log('REDELIVERY_TAKEN_OVER', getLogFields(job));
        return;
      }
      if (saved.status !== 'running') {
        log('REDELIVERY_STOPPED', {
          ...getLogFields(job),
          examined: saved.examined,
          redelivered: saved.redelivered,
        });
        return;
      }
      job = { ...saved, lease };
      if (isLast) return end(job, 'done');
      if (now().getTime() >= untilMs || job.redelivered >= redeliveredLimit)
        return sendNextRound(job, keepsPage);
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
    if (leased.kind === 'leased') await runRound(leased.job);
  };
}
