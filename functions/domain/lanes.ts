import type { Endpoint } from './endpoint.ts';
import { MAX_DELAY_SECONDS } from './timing.ts';

/** The facts of one delivery queue. */
interface LaneFacts {
  /** The environment variable that holds the queue's URL. */
  readonly queue: `${string}_QUEUE`;
  /**
   * Batches in progress at once, of ten messages each, by stage. Context may change it: `dispatchersFresh`.
   */
  readonly dispatchers: Readonly<Record<'dev' | 'staging' | 'prod', number>>;
  /**
   * Seconds for which SQS gathers messages into a batch, by stage. Without it a message is received at once.
   */
  readonly windowSeconds?: Readonly<Record<'dev' | 'staging' | 'prod', number>>;
  /**
   * Whether a batch starts all its attempts at once, however long they take. Others limit each organization.
   */
  readonly isPatient?: boolean;
  /**
   * Whether the previous release does not know the queue. It is then read through an alias that gets new code at
   * once, because the previous version would fail on it. The release after that may drop the mark.
   */
  readonly isNew?: boolean;
}

/**
 * The delivery queues. Their resources, grants, environment variables and settings derive from this table;
 * the functions below decide which queue a message goes to.
 */
export const LANE_TABLE = {
  fresh: { queue: 'FRESH_QUEUE', dispatchers: { dev: 20, staging: 20, prod: 100 } },
  // Apart from first attempts, so that a storm of retries delays no new event.
  retry: { queue: 'RETRY_QUEUE', dispatchers: { dev: 10, staging: 10, prod: 50 } },
  // Endpoints that keep workers waiting delay only each other.
  slow: { queue: 'SLOW_QUEUE', dispatchers: { dev: 10, staging: 10, prod: 40 }, isPatient: true },
  // For endpoints that do not answer until the deadline: ten such attempts in one invocation cost as much as
  // one. The window is the shortest wait between attempts. A developer does not wait for it.
  stalled: {
    queue: 'STALLED_QUEUE',
    dispatchers: { dev: 10, staging: 10, prod: 40 },
    windowSeconds: { dev: 0, staging: 30, prod: 30 },
    isPatient: true,
    isNew: true,
  },
} as const satisfies Record<string, LaneFacts>;
export type Lane = keyof typeof LANE_TABLE;
export const LANES = /* @__PURE__ */ Object.keys(LANE_TABLE) as readonly Lane[];

/** The environment variables of the queues of a table. */
export type QueueVariable<T> = {
  [L in keyof T]: T[L] extends { queue: infer V extends string } ? V : never;
}[keyof T];

/** A queue's facts, optional ones included. */
export const getLaneFacts = (lane: Lane): LaneFacts => LANE_TABLE[lane];

/** A value for each queue. */
export const mapLanes = <T>(of: (lane: Lane) => T): Record<Lane, T> =>
  Object.fromEntries(LANES.map((lane) => [lane, of(lane)])) as Record<Lane, T>;

/** The queues that first attempts are made from. */
export const FIRST_LANES = /* @__PURE__ */ (({ retry: _, ...first }: typeof LANE_TABLE) => first)(LANE_TABLE);
export type FirstLane = keyof typeof FIRST_LANES;

/**
 * An attempt whose answer has not come so long after its request was written marks its endpoint as slow, long
 * before its deadline. DNS, TCP and TLS do not count: to a healthy receiver on another continent they alone
 * may take half a second.
 */
export const SLOW_AFTER_SECONDS = 1;
/** An attempt whose connection takes so long marks its endpoint too. */
export const SLOW_TO_CONNECT_SECONDS = 3;
/** For how long the mark holds. A renewed one starts anew. */
export const SLOW_SECONDS = 120;

export const isMarkedSlow = (endpoint: Pick<Endpoint, 'slowUntil'>, now: Date): boolean =>
  endpoint.slowUntil !== undefined && new Date(endpoint.slowUntil) > now;

/**
 * Whether an endpoint belongs in the slow lane. A new one does until an attempt is answered fast, so that a
 * burst at endpoints that never answer cannot hold the fast lanes; so does one whose mark has expired.
 */
export const isSlow = (endpoint: Pick<Endpoint, 'slowUntil' | 'unproven'>, now: Date): boolean =>
  endpoint.unproven === true || isMarkedSlow(endpoint, now);

/**
 * For how long a mark as stalled holds: as long as the longest wait between attempts (public-api.md, Limits),
 * so that it is still there when one delivery alone tells of the endpoint. An attempt that does not stall
 * ends it.
 */
export const STALLED_SECONDS = 3600;
/**
 * The part of the deadline from which on an attempt without an answer has stalled: clocks around it are not
 * exact.
 */
const NEARLY = 0.95;

/**
 * Whether an attempt kept its worker waiting until the deadline, and for nothing.
 * @param elapsedSeconds by the worker's clock: where a sandbox's time passes faster nobody waits
 */
export const hasStalled = (
  { status }: { status?: number },
  elapsedSeconds: number,
  deadlineSeconds: number,
): boolean => status === undefined && elapsedSeconds >= NEARLY * deadlineSeconds;

export const isStalled = (endpoint: Pick<Endpoint, 'stalledUntil'> | undefined, now: Date): boolean =>
  endpoint?.stalledUntil !== undefined && new Date(endpoint.stalledUntil) > now;

/** How an endpoint treats who calls it. */
export interface PaceClass {
  slow: boolean;
  stalled: boolean;
}

/**
 * The queue that a message of `lane` is moved to before its attempt; undefined when it stays. The first
 * attempt of a test or redelivery, which a user waits for, does not wait for a batching window.
 */
export function findBetterLane(
  lane: Lane,
  { slow, stalled }: PaceClass,
  isAskedFor: boolean,
): 'slow' | 'stalled' | undefined {
  // Its batching window is over when it is received.
  if (lane === 'stalled') return undefined;
  if (stalled) {
    if (!isAskedFor || lane === 'retry') return 'stalled';
    return lane === 'slow' ? undefined : 'slow';
  }
  return slow && lane !== 'slow' ? 'slow' : undefined;
}

/** Where the next attempt belongs, after one that failed. */
export const chooseRetryLane = ({ slow, stalled }: PaceClass): Lane =>
  stalled ? 'stalled' : slow ? 'slow' : 'retry';

/** Where the first attempt at an endpoint belongs, so far as its item says how it is. */
export const chooseFirstLane = (
  endpoint: Pick<Endpoint, 'slowUntil' | 'unproven' | 'stalledUntil'>,
  now: Date,
  isAskedFor: boolean,
): FirstLane =>
  findBetterLane('fresh', { slow: isSlow(endpoint, now), stalled: isStalled(endpoint, now) }, isAskedFor) ??
  'fresh';

export const isPatient = (lane: Lane): boolean => getLaneFacts(lane).isPatient === true;

/**
 * Whether messages of the queue wait for others before they are received, which is no delay of the service.
 */
export const isBatched = (lane: Lane): boolean => getLaneFacts(lane).windowSeconds !== undefined;

/** A wait that SQS cannot hold back is spent in the table. */
export const LONGEST_QUEUED_WAIT_SECONDS = MAX_DELAY_SECONDS;

/** Messages in flight at which SQS gives out nothing more of a queue. */
export const IN_FLIGHT_LIMIT = 120_000;

/**
 * Messages in flight from which on a queue counts as crowded. SQS gives out nothing more at its limit, and a
 * message hidden until its retry is in flight. Half of that, because the count is approximate and each worker
 * looks at it only now and then.
 */
export const CROWDED_IN_FLIGHT = 60_000;

/**
 * Where a delivery spends the wait for its next attempt: its message hidden in its own lane, sent to another
 * lane and held back there (which is not in flight), or no message at all and the table's word that it is
 * due, which the reconciler finds.
 */
export type WaitMode = 'hidden' | 'delayed' | 'parked';

/** @param crowded whether the lane that it would wait in nears its limit of messages in flight */
export function chooseWaitMode(waitSeconds: number, from: Lane, to: Lane, crowded: boolean): WaitMode {
  if (crowded || waitSeconds > LONGEST_QUEUED_WAIT_SECONDS) return 'parked';
  return from === to ? 'hidden' : 'delayed';
}
