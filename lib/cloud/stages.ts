import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Lane } from '../../functions/domain/lanes.ts';

/** Where a deployment stands: each has stacks, data and keys of its own. */
export const STAGES = ['dev', 'staging', 'prod'] as const;
export type Stage = (typeof STAGES)[number];

/** What a stage decides for all that is deployed to it. */
export interface StagePolicy {
  stage: Stage;
  /** Whatever holds data outlives its stack, cannot be deleted by mistake, and can be brought back to any second of the last 35 days. */
  keepsData: boolean;
  logLevel: 'DEBUG' | 'INFO';
  logRetention: RetentionDays;
  /** Whether somebody is told. Without, the alarms are there and show their state, and act on nothing. */
  alarms: boolean;
  /** Batches of a lane under way at once; each holds ten attempts. */
  dispatchers: Readonly<Record<Lane, number>>;
  /** Requests a second to the API of all organizations together, and how many may come at once. */
  throttle: { rate: number; burst: number };
  /** New code of the delivery engine takes its share of the work step by step, and goes back when an alarm rings. */
  deploysGradually: boolean;
}

const POLICIES: Readonly<Record<Stage, Omit<StagePolicy, 'stage'>>> = {
  dev: {
    keepsData: false,
    logLevel: 'INFO',
    logRetention: RetentionDays.ONE_WEEK,
    alarms: false,
    dispatchers: { fresh: 20, retry: 10, slow: 10 },
    throttle: { rate: 200, burst: 400 },
    deploysGradually: false,
  },
  // As in production, so that what is tried here is what happens there, at a tenth of its size.
  staging: {
    keepsData: true,
    logLevel: 'INFO',
    logRetention: RetentionDays.ONE_MONTH,
    alarms: true,
    dispatchers: { fresh: 20, retry: 10, slow: 10 },
    throttle: { rate: 200, burst: 400 },
    deploysGradually: true,
  },
  prod: {
    keepsData: true,
    logLevel: 'INFO',
    logRetention: RetentionDays.THREE_MONTHS,
    alarms: true,
    dispatchers: { fresh: 100, retry: 50, slow: 40 },
    throttle: { rate: 2000, burst: 4000 },
    deploysGradually: true,
  },
};

export const policyOf = (stage: Stage): StagePolicy => ({ stage, ...POLICIES[stage] });
