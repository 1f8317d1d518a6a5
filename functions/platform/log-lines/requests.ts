import { lines } from './line.ts';

const AGAIN = 'Nothing, unless it goes on: the caller repeats it.';

/** What is logged of API requests, and of invocations as such. */
export const REQUEST_LINES = lines({
  REQUEST_ANSWERED: {
    level: 'debug',
    says: 'a request was answered',
    operator: 'Nothing.',
    fields: { status: 'count' },
  },
  REQUEST_FAILED: {
    level: 'error',
    says: 'the request failed',
    operator: 'A defect: the caller got 500. Find the place by the error and its frames.',
    fields: { error: 'failure' },
  },
  DEPENDENCY_UNAVAILABLE: {
    level: 'error',
    says: 'a dependency is unavailable',
    operator: `The caller got 503. ${AGAIN} Then look at the throttles and at AWS's health page.`,
    fields: { error: 'failure' },
  },
  RATE_LIMITER_FAILED: {
    level: 'warn',
    says: 'the rate limiter failed, the request passes',
    operator: 'Nobody is limited meanwhile: look at the table of the rate windows.',
    fields: { error: 'failure' },
  },
  CALLER_NOT_LIVE: {
    level: 'warn',
    says: 'a live key or a session names an organization that is not live',
    operator: 'A key or a claim of the user pool is wrong: it was refused with 401. Find out who made it.',
    fields: { orgId: 'id' },
  },
  SANDBOX_KEY_REFUSED: {
    level: 'warn',
    says: 'a sandbox key is refused: its pairing does not hold',
    operator: 'The rows of the pairing contradict each other: compare the two organizations.',
    fields: { keyId: 'id', liveOrgId: 'id', why: 'words' },
  },
  ORGANIZATION_ENROLLED: {
    level: 'info',
    says: 'an organization was enrolled',
    operator: 'Nothing: an operator asked for it.',
    fields: { orgId: 'id', keyId: 'id' },
  },
  INVOCATION_FAILED: {
    level: 'error',
    says: 'the invocation failed as a whole',
    operator: 'What it was to do comes again. If it goes on, find the place by the error and its frames.',
    fields: { error: 'failure' },
  },
});
