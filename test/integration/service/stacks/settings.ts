import type { ServiceOptions } from '../../../support/service.ts';

/** Recipients of e-mails about content per organization and day. */
export const MAIL_BUDGET = 4;

/** No waits between attempts, and an attempt timeout that leaves time for a receiver that is held. */
export const WITHOUT_WAITS = {
  retryBaseSeconds: 0,
  retryCapSeconds: 0,
  attemptTimeoutSeconds: 20,
  watchWindowSeconds: 1,
  syncCooldownSeconds: 0,
  checksPerOrganization: 2,
  mailLimits: { organization: MAIL_BUDGET },
};

/**
 * The stack that the files of the project share, because a start takes longer than most tests. Each test uses
 * organizations of its own; a test that changes anything for all of them starts a stack of its own.
 */
export const SHARED_STACK: ServiceOptions = {
  settings: WITHOUT_WAITS,
  variables: { LOG_LEVEL: 'DEBUG' },
  // These two feed their own queues.
  stoppedInLoops: ['redeliver', 'dead-fan-outs'],
};
