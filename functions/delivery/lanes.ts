import { NonEmptyText } from '../aws/config.ts';
import type { Pace } from '../receivers/pace.ts';
import { MAX_DELAY_SECONDS } from './timing.ts';

/** Classes of stages, from the smallest. */
export type StageClass = 'development' | 'staging' | 'production';

/** Facts of one delivery queue. */
interface LaneFacts {
  /** Environment variable with the queue's URL. */
  readonly queue: `${string}_QUEUE`;
  /** Concurrent batches of ten messages, by class of stage. */
  readonly dispatchers: Readonly<Record<StageClass, number>>;
  /** Batching window in seconds, by class of stage. Without it a message is received at once. */
  readonly windowSeconds?: Readonly<Record<StageClass, number>>;
  /** Whether a batch starts all attempts at once. Other queues limit each organization within a batch. */
  readonly attemptsAllAtOnce?: boolean;
  /**
   * Whether the previous release does not know the queue. It is then read through an alias that gets new code
   * at once, because the previous version would fail on it. The next release can drop the mark.
   */
  readonly isNew?: boolean;
}

/**
 * The delivery queues. Resources, grants, environment variables and settings derive from this table; the
 * functions below choose a message's queue.
 */
export const LANE_TABLE = {
  fresh: { queue: 'FRESH_QUEUE', dispatchers: { development: 20, staging: 20, production: 100 } },
  // Separate from first attempts, so that a storm of retries delays no new event.
  retry: { queue: 'RETRY_QUEUE', dispatchers: { development: 10, staging: 10, production: 50 } },
  // Slow endpoints delay only each other. With the half of 16 a redelivery job of 100,000 takes an hour.
  slow: {
    queue: 'SLOW_QUEUE',
    dispatchers: { development: 10, staging: 16, production: 40 },
    attemptsAllAtOnce: true,
  },
  // For endpoints that do not answer until the deadline: ten such attempts in one invocation cost as much as
  // one. The window is the shortest wait between attempts; development has none.
  stalled: {
    queue: 'STALLED_QUEUE',
    dispatchers: { development: 10, staging: 10, production: 40 },
    windowSeconds: { development: 0, staging: 30, production: 30 },
    attemptsAllAtOnce: true,
    isNew: true,
  },
} as const satisfies Record<string, LaneFacts>;
export type Lane = keyof typeof LANE_TABLE;
export const LANES = /* @__PURE__ */ Object.keys(LANE_TABLE) as readonly Lane[];

/** Most deliveries that a redelivery job sends at a time in any deployment. */
export const LARGEST_GROUP = 16;

/**
 * The default of most deliveries of a redelivery job that wait for their first attempt at a time: half the
 * batches of their queue, so that the other half is left to live events at slow endpoints even if each
 * delivery has a batch of its own.
 * @param slowDispatchers concurrent batches of the stage's slow queue
 */
export const computeRedeliveryGroup = (slowDispatchers: number): number =>
  Math.min(LARGEST_GROUP, Math.max(1, Math.floor(slowDispatchers / 2)));

/** Environment variables of a table's queues. */
export type QueueVariable<T> = {
  [L in keyof T]: T[L] extends { queue: infer V extends string } ? V : never;
}[keyof T];

export const getLaneFacts = (lane: Lane): LaneFacts => LANE_TABLE[lane];

/** Builds a record with a value for each queue. */
export const mapLanes = <T>(of: (lane: Lane) => T): Record<Lane, T> =>
  Object.fromEntries(LANES.map((lane) => [lane, of(lane)])) as Record<Lane, T>;

/** Queues of first attempts. */
export const FIRST_LANES = /* @__PURE__ */ (({ retry: _, ...first }: typeof LANE_TABLE) => first)(LANE_TABLE);
export type FirstLane = keyof typeof FIRST_LANES;

/** Queues of a redelivery job's first attempts. */
export const JOB_LANES = /* @__PURE__ */ (({ fresh: _, ...job }: typeof FIRST_LANES) => job)(FIRST_LANES);
export type JobLane = keyof typeof JOB_LANES;

/**
 * Returns the queue that a message moves to before its attempt; undefined when it stays. The first attempt of
 * a test or redelivery, which a user waits for, skips the batching window.
 */
export function findBetterLane(lane: Lane, pace: Pace, isRequested: boolean): 'slow' | 'stalled' | undefined {
  // Its batching window has passed already.
  if (lane === 'stalled') return undefined;
  if (pace === 'stalled') {
    if (!isRequested || lane === 'retry') return 'stalled';
    return lane === 'slow' ? undefined : 'slow';
  }
  return pace === 'slow' && lane !== 'slow' ? 'slow' : undefined;
}

/** Chooses the queue of the attempt after a failed one. */
export const chooseRetryLane = (pace: Pace): Lane => (pace === 'fast' ? 'retry' : pace);

/** Chooses the queue of a first attempt. */
export const chooseFirstLane = (pace: Pace, isRequested: boolean): FirstLane =>
  findBetterLane('fresh', pace, isRequested) ?? 'fresh';

/**
 * Chooses the queue of a redelivery job's first attempts, apart from those of live events. It starts the
 * attempts of a batch all at once, so a job is as fast as its receiver.
 */
export const chooseJobLane = (pace: Pace): JobLane => (pace === 'stalled' ? 'stalled' : 'slow');

export const attemptsAllAtOnce = (lane: Lane): boolean => getLaneFacts(lane).attemptsAllAtOnce === true;

/** Whether the queue has a batching window, which is not a delay of the service. */
export const isBatched = (lane: Lane): boolean => getLaneFacts(lane).windowSeconds !== undefined;

/** A longer wait is parked in the table. */
export const LONGEST_QUEUED_WAIT_SECONDS = MAX_DELAY_SECONDS;

/** Messages in flight at which SQS returns no more messages of a queue. */
export const IN_FLIGHT_LIMIT = 120_000;

/**
 * Messages in flight from which a queue counts as crowded: half the limit, because the count is approximate
 * and read rarely. A message that is hidden until its retry counts as in flight.
 */
export const CROWDED_IN_FLIGHT = 60_000;

/**
 * How a delivery waits for its next attempt: `hidden` in its queue (in flight), `delayed` in another queue
 * (not in flight), or `parked` in the table without a message.
 */
export type WaitMode = 'hidden' | 'delayed' | 'parked';

/** @param crowded whether the queue of the wait is near its limit of messages in flight */
export function chooseWaitMode(waitSeconds: number, from: Lane, to: Lane, crowded: boolean): WaitMode {
  if (crowded || waitSeconds > LONGEST_QUEUED_WAIT_SECONDS) return 'parked';
  return from === to ? 'hidden' : 'delayed';
}

const queueVariables = <T extends Readonly<Record<string, { queue: string }>>>(table: T) =>
  Object.fromEntries(Object.values(table).map(({ queue }) => [queue, NonEmptyText])) as Record<
    QueueVariable<T>,
    typeof NonEmptyText
  >;

/** URLs of the delivery queues of first attempts. */
export const FirstAttemptQueues = /* @__PURE__ */ queueVariables(FIRST_LANES);

export const JobQueues = /* @__PURE__ */ queueVariables(JOB_LANES);

export const DeliveryQueues = /* @__PURE__ */ queueVariables(LANE_TABLE);
