import type { ServiceOptions } from '../../../support/service.ts';

/** Rate limits that no test uses up; no tier may have more than the one above it. */
export const UNLIMITED = {
  rateLimits: { sandbox: 1_000_000, standard: 1_000_000, scale: 1_000_000 },
};

/** Recipients of e-mails about content per organization and day. */
export const MAIL_BUDGET = 4;

/** No waits between attempts, and an attempt timeout that leaves time for a receiver that is held. */
export const WITHOUT_WAITS = {
  ...UNLIMITED,
  retryBaseSeconds: 0,
  retryCapSeconds: 0,
  attemptTimeoutSeconds: 20,
  watchWindowSeconds: 1,
  syncCooldownSeconds: 0,
  checksPerOrganization: 2,
  mailLimits: { organization: MAIL_BUDGET },
};

/**
 * Stacks that the files of the project share, because a start takes longer than most tests. Each test uses
 * organizations of its own; a test that changes anything for all of them starts a stack of its own.
 */
export const STACKS = {
  /** As deployed, except for the rate limits of all tests; the functions log at level DEBUG. */
  defaults: { variables: { LOG_LEVEL: 'DEBUG' } },
  /** Two functions that feed their own queues lack RecursiveLoop. */
  withoutWaits: { settings: WITHOUT_WAITS, stoppedInLoops: ['redeliver', 'dead-fan-outs'] },
} as const satisfies Record<string, ServiceOptions>;
export type StackName = keyof typeof STACKS;
