import type { Lane, StageClass } from '../../functions/delivery/lanes.ts';

/**
 * How the delivery engine gets new code: a tenth of the work for five minutes first, a tenth more every three
 * minutes, or all at once.
 */
export type Release = 'canary' | 'linear' | 'at-once';

/** Functions with reserved concurrency, isolated from each other and the API. */
export type Reserved = 'dispatch' | 'fanOut' | 'deliveryStream' | 'publish';

/** What a stage has by its class, with the changes of its file. */
export interface StagePolicy {
  /** Name of the stage, which has its own stacks, data and keys. */
  stage: string;
  /** Account and region; without them, those of the credentials. */
  env: { account: string; region: string } | undefined;
  /** What the account's bootstrap has in place of the CDK's defaults. */
  bootstrap: { qualifier?: string | undefined; permissionsBoundary?: string | undefined };
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

interface ClassPolicy
  extends Pick<
    StagePolicy,
    'keepsData' | 'logLevel' | 'logRetentionDays' | 'alarms' | 'lowCost' | 'throttle' | 'release'
  > {
  /** Reserved for stream readers, one batch per shard; the dispatcher has the sum of its lanes. */
  readers: Omit<Record<Reserved, number>, 'dispatch'>;
  reserves: boolean;
  waf: boolean;
  /** Ranges of settings. */
  bounds: Readonly<Record<'logRetentionDays' | 'dispatchers' | 'throttle', readonly [number, number]>>;
}

/** SQS's limits for an event source mapping. */
const CONCURRENCY = { least: 2, most: 1000 };
/** Requests per second of all APIs of an account in a region, unless AWS has raised it. */
const ACCOUNT_RATE = 10_000;

export const CLASSES: Readonly<Record<StageClass, ClassPolicy>> = {
  // The local run is of this class: a developer's load test must not reach its rate.
  development: {
    keepsData: false,
    logLevel: 'INFO',
    logRetentionDays: 7,
    alarms: false,
    lowCost: true,
    readers: { fanOut: 20, deliveryStream: 10, publish: 10 },
    reserves: false,
    waf: false,
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
    waf: false,
    throttle: { rate: 200, burst: 400 },
    release: 'canary',
    bounds: { logRetentionDays: [7, 400], dispatchers: [2, CONCURRENCY.most], throttle: [10, ACCOUNT_RATE] },
  },
  production: {
    keepsData: true,
    logLevel: 'INFO',
    logRetentionDays: 90,
    alarms: true,
    lowCost: false,
    readers: { fanOut: 100, deliveryStream: 60, publish: 40 },
    reserves: true,
    waf: true,
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

export const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
