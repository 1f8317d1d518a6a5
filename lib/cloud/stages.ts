import { getLaneFacts, type Lane, mapLanes } from '../../functions/domain/lanes.ts';
import { type Context, flag, number, oneOf, SettingError, text, WHOLE } from './context.ts';

/** Where a deployment stands: each has stacks, data and keys of its own. */
export const STAGES = ['dev', 'staging', 'prod'] as const;
export type Stage = (typeof STAGES)[number];

/**
 * How the delivery engine gets new code: a tenth of the work for five minutes first, a tenth more every three
 * minutes, or all of it.
 */
export type Release = 'canary' | 'linear' | 'at-once';

/** Functions with reserved concurrency, so that they and the API cannot take each other's. */
export type Reserved = 'dispatch' | 'fanOut' | 'deliveryStream' | 'publish';

/** What a stage decides for all that is deployed to it. */
export interface StagePolicy {
  stage: Stage;
  /**
   * All that holds data outlives its stack, cannot be deleted by mistake, and can be restored to any second
   * of the last 35 days.
   */
  keepsData: boolean;
  logLevel: 'DEBUG' | 'INFO';
  logRetentionDays: number;
  /** Whether alarms notify anyone. Without, the alarms show their state and send nothing. */
  alarms: boolean;
  /** Batches of a lane in progress at once; each holds ten attempts. */
  dispatchers: Readonly<Record<Lane, number>>;
  /** Seconds for which messages of a lane are gathered into a batch; 0 where they are received at once. */
  windowSeconds: Readonly<Record<Lane, number>>;
  /**
   * Concurrent invocations that are reserved for a function, and its maximum. Absent where nothing is
   * reserved: an account starts with 1000, a new one perhaps with 10, and 100 of them cannot be reserved.
   */
  reserved: Readonly<Record<Reserved, number>> | undefined;
  /** Requests a second to the API of all organizations together, and how many may come at once. */
  throttle: { rate: number; burst: number };
  release: Release;
  /** Whether an alarm takes new code back. An operator says no to bring out a repair while alarms ring. */
  rollsBack: boolean;
}

interface StageRow
  extends Omit<StagePolicy, 'stage' | 'dispatchers' | 'windowSeconds' | 'reserved' | 'rollsBack'> {
  /** Reserved for what reads streams, a batch for each shard; the dispatcher has what its lanes may use. */
  readers: Omit<Record<Reserved, number>, 'dispatch'>;
  reserves: boolean;
  /** Within which a context value may change a figure. */
  bounds: Readonly<Record<'logRetentionDays' | 'dispatchers' | 'throttle', readonly [number, number]>>;
}

/** SQS takes no less than 2 and no more than 1000 for a queue's reader. */
const CONCURRENCY = { least: 2, most: 1000 };
/** Requests a second of all APIs of an account in a region, unless AWS has raised it. */
const ACCOUNT_RATE = 10_000;

const ROWS: Readonly<Record<Stage, StageRow>> = {
  // The local run is of this stage: its rate is one that a developer's load test does not meet.
  dev: {
    keepsData: false,
    logLevel: 'INFO',
    logRetentionDays: 7,
    alarms: false,
    readers: { fanOut: 20, deliveryStream: 10, publish: 10 },
    reserves: false,
    throttle: { rate: 1000, burst: 2000 },
    release: 'at-once',
    bounds: { logRetentionDays: [1, 90], dispatchers: [2, 100], throttle: [1, ACCOUNT_RATE] },
  },
  // As in production, so that what is tried here is what happens there, at a tenth of its size.
  staging: {
    keepsData: true,
    logLevel: 'INFO',
    logRetentionDays: 30,
    alarms: true,
    readers: { fanOut: 20, deliveryStream: 10, publish: 10 },
    reserves: true,
    throttle: { rate: 200, burst: 400 },
    release: 'canary',
    bounds: { logRetentionDays: [7, 400], dispatchers: [2, CONCURRENCY.most], throttle: [10, ACCOUNT_RATE] },
  },
  prod: {
    keepsData: true,
    logLevel: 'INFO',
    logRetentionDays: 90,
    alarms: true,
    readers: { fanOut: 100, deliveryStream: 60, publish: 40 },
    reserves: true,
    throttle: { rate: 2000, burst: 4000 },
    release: 'linear',
    // AWS raises an account's limits on request, far beyond its first ones.
    bounds: {
      logRetentionDays: [30, 3653],
      dispatchers: [10, CONCURRENCY.most],
      throttle: [100, 100 * ACCOUNT_RATE],
    },
  },
};

/** For which CloudWatch keeps logs (API reference, PutRetentionPolicy). Days. */
export const RETENTION_DAYS: readonly number[] = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

/**
 * The policy of the stage that the context names, with what else it says of it.
 * @throws SettingError when there is no such stage, or something is beyond its bounds or against its rules
 */
export function readPolicy(node: Context): StagePolicy {
  const stage = stageOf(node);
  const { readers, reserves, bounds, ...row } = ROWS[stage];
  const within = (name: keyof typeof bounds, what: string) =>
    WHOLE(`${what} in stage ${stage}`, ...bounds[name]);
  const dispatchers = mapLanes((lane) =>
    number(
      node,
      `dispatchers${capitalized(lane)}`,
      getLaneFacts(lane).dispatchers[stage],
      within('dispatchers', 'batches at once'),
    ),
  );
  const rate = number(node, 'apiRate', row.throttle.rate, within('throttle', 'requests a second'));
  const burst = number(
    node,
    'apiBurst',
    Math.max(row.throttle.burst, rate),
    within('throttle', 'requests at once'),
  );
  if (burst < rate) throw new SettingError('context apiBurst must not be less than apiRate');
  const alarms = flag(node, 'alarms', row.alarms);
  if (stage === 'prod' && !alarms)
    throw new SettingError(
      'context alarms must not be false in stage prod, where operators must be notified',
    );
  const release = oneOf(node, 'release', ['gradual', 'at-once'], 'gradual');
  const isReserved = flag(node, 'reserveConcurrency', reserves);
  return {
    ...row,
    stage,
    alarms,
    dispatchers,
    windowSeconds: mapLanes((lane) => getLaneFacts(lane).windowSeconds?.[stage] ?? 0),
    logRetentionDays: retentionOf(node, stage),
    reserved: isReserved ? { ...readers, dispatch: total(dispatchers) } : undefined,
    throttle: { rate, burst },
    rollsBack: release === 'gradual' && row.release !== 'at-once',
  };
}

const total = (dispatchers: StagePolicy['dispatchers']): number =>
  Object.values(dispatchers).reduce((sum, count) => sum + count, 0);

export const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** Without context it is `dev`: `npx cdk synth`, `diff`, `bootstrap` and `deploy` then work as they are. */
const stageOf = (node: Context): Stage => oneOf(node, 'stage', STAGES, 'dev');

function retentionOf(node: Context, stage: Stage): number {
  const {
    logRetentionDays,
    bounds: {
      logRetentionDays: [least, most],
    },
  } = ROWS[stage];
  const given = text(node, 'logRetentionDays');
  if (given === undefined) return logRetentionDays;
  const possible = RETENTION_DAYS.filter((days) => days >= least && days <= most);
  const days = possible.find((value) => String(value) === given);
  if (days === undefined)
    throw new SettingError(
      `context logRetentionDays must be one of ${possible.join(', ')} in stage ${stage}, not "${given}"`,
    );
  return days;
}
