import {
  computeRedeliveryGroup,
  getLaneFacts,
  LARGEST_GROUP,
  type Lane,
  mapLanes,
} from '../../functions/delivery/lanes.ts';
import { type Context, flag, number, oneOf, SettingError, text, WHOLE } from './context.ts';

/** Each stage has its own stacks, data and keys. */
export const STAGES = ['dev', 'staging', 'prod'] as const;
export type Stage = (typeof STAGES)[number];

/**
 * How the delivery engine gets new code: a tenth of the work for five minutes first, a tenth more every three
 * minutes, or all at once.
 */
export type Release = 'canary' | 'linear' | 'at-once';

/** Functions with reserved concurrency, isolated from each other and the API. */
export type Reserved = 'dispatch' | 'fanOut' | 'deliveryStream' | 'publish';

/** Settings of all deployments of a stage. */
export interface StagePolicy {
  stage: Stage;
  /**
   * Data outlives its stack, is protected from deletion, and can be restored to any second of the last 35
   * days.
   */
  keepsData: boolean;
  logLevel: 'DEBUG' | 'INFO';
  logRetentionDays: number;
  /** Whether there are alarms, their topic and the operations dashboard. */
  alarms: boolean;
  /**
   * Cheap while idle: AWS's own encryption keys, schedules every five minutes, and no maximum concurrency of
   * queues, without which Lambda polls them with two pollers and not five.
   */
  lowCost: boolean;
  /** Concurrent batches of a lane, with ten attempts each. */
  dispatchers: Readonly<Record<Lane, number>>;
  /** Most deliveries of a redelivery job that wait for their first attempt at a time. */
  redeliveryGroup: number;
  /** Batching window of each lane in seconds; 0 for none. */
  windowSeconds: Readonly<Record<Lane, number>>;
  /**
   * Reserved and maximum concurrency of a function. Absent if none is reserved: an account starts with 1000,
   * a new one perhaps with 10, and 100 of them cannot be reserved.
   */
  reserved: Readonly<Record<Reserved, number>> | undefined;
  /** Requests per second and burst of all organizations together. */
  throttle: { rate: number; burst: number };
  release: Release;
  /** Whether an alarm rolls back new code. False lets an operator release a fix while alarms are firing. */
  rollsBack: boolean;
}

interface StageRow
  extends Omit<
    StagePolicy,
    'stage' | 'dispatchers' | 'redeliveryGroup' | 'windowSeconds' | 'reserved' | 'rollsBack'
  > {
  /** Reserved for stream readers, one batch per shard; the dispatcher has the sum of its lanes. */
  readers: Omit<Record<Reserved, number>, 'dispatch'>;
  reserves: boolean;
  /** Ranges for context values. */
  bounds: Readonly<Record<'logRetentionDays' | 'dispatchers' | 'throttle', readonly [number, number]>>;
}

/** SQS's limits for an event source mapping. */
const CONCURRENCY = { least: 2, most: 1000 };
/** Requests per second of all APIs of an account in a region, unless AWS has raised it. */
const ACCOUNT_RATE = 10_000;

const ROWS: Readonly<Record<Stage, StageRow>> = {
  // The local run uses this stage: a developer's load test must not reach its rate.
  dev: {
    keepsData: false,
    logLevel: 'INFO',
    logRetentionDays: 7,
    alarms: false,
    lowCost: true,
    readers: { fanOut: 20, deliveryStream: 10, publish: 10 },
    reserves: false,
    throttle: { rate: 1000, burst: 2000 },
    release: 'at-once',
    bounds: { logRetentionDays: [1, 90], dispatchers: [2, 100], throttle: [1, ACCOUNT_RATE] },
  },
  // Production's settings at a tenth of its size, so that tests here are representative.
  staging: {
    keepsData: true,
    logLevel: 'INFO',
    logRetentionDays: 30,
    alarms: true,
    lowCost: false,
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
    lowCost: false,
    readers: { fanOut: 100, deliveryStream: 60, publish: 40 },
    reserves: true,
    throttle: { rate: 2000, burst: 4000 },
    release: 'linear',
    // AWS raises an account's limits on request, far beyond the initial ones.
    bounds: {
      logRetentionDays: [30, 3653],
      dispatchers: [10, CONCURRENCY.most],
      throttle: [100, 100 * ACCOUNT_RATE],
    },
  },
};

/** Retentions that CloudWatch accepts, in days (API reference, PutRetentionPolicy). */
export const RETENTION_DAYS: readonly number[] = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

/**
 * Policy of the context's stage, with the context's changes.
 * @throws SettingError when there is no such stage, or a value is out of range or against the stage's rules
 */
export function readPolicy(node: Context): StagePolicy {
  const stage = readStage(node);
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
  const lowCost = flag(node, 'lowCost', row.lowCost);
  if (lowCost && row.keepsData)
    throw new SettingError(
      `context lowCost must not be true in stage ${stage}, which bounds its concurrency`,
    );
  const release = oneOf(node, 'release', ['gradual', 'at-once'], 'gradual');
  const isReserved = flag(node, 'reserveConcurrency', reserves);
  return {
    ...row,
    stage,
    alarms,
    lowCost,
    dispatchers,
    redeliveryGroup: number(
      node,
      'redeliveryGroup',
      computeRedeliveryGroup(dispatchers.slow),
      WHOLE('deliveries of a redelivery job at a time', 1, LARGEST_GROUP),
    ),
    windowSeconds: mapLanes((lane) => getLaneFacts(lane).windowSeconds?.[stage] ?? 0),
    logRetentionDays: readRetention(node, stage),
    reserved: isReserved ? { ...readers, dispatch: total(dispatchers) } : undefined,
    throttle: { rate, burst },
    rollsBack: release === 'gradual' && row.release !== 'at-once' && alarms,
  };
}

const total = (dispatchers: StagePolicy['dispatchers']): number =>
  Object.values(dispatchers).reduce((sum, count) => sum + count, 0);

export const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** Default `dev`, so that `npx cdk synth`, `diff`, `bootstrap` and `deploy` work without context. */
const readStage = (node: Context): Stage => oneOf(node, 'stage', STAGES, 'dev');

function readRetention(node: Context, stage: Stage): number {
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
