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
  KEY_USE_NOT_NOTED: {
    level: 'warn',
    says: 'the use of an API key could not be noted, the request passes',
    operator:
      'What is shown as its last use is some minutes too early. If it goes on, look at the table of the rate windows.',
    fields: { error: 'failure' },
  },
  CALLER_NOT_LIVE: {
    level: 'warn',
    says: 'a live key or a session names an organization that does not exist or is not live',
    operator: 'A key or a claim of the user pool is wrong: it was refused with 401. Find out who made it.',
    fields: { orgId: 'id' },
  },
  SANDBOX_KEY_REFUSED: {
    level: 'warn',
    says: 'a sandbox key is refused: its pairing does not hold',
    operator: 'The rows of the pairing contradict each other: compare the two organizations.',
    fields: { keyId: 'id', liveOrgId: 'id', why: 'words' },
  },
  SIGNED_IN: {
    level: 'info',
    says: 'a person has signed in to the dashboard',
    operator: 'Nothing.',
    fields: { userId: 'id', orgId: 'id' },
  },
  SIGN_IN_REFUSED: {
    level: 'info',
    says: 'a sign-in to the dashboard or the renewal of a session was refused',
    operator:
      'Nothing when it is rare: the person took too long, or a link was not his. If nobody can sign in, compare the client, its addresses and scopes at the issuer with the context of the deployment; the issuer says why.',
    fields: { why: 'words', status: 'count' },
  },
  SESSION_TOO_LARGE: {
    level: 'warn',
    says: 'a token of the issuer is too large for a cookie',
    operator:
      'The person cannot sign in, or is asked to sign in every time the session ends: have the issuer put fewer claims into its tokens.',
    fields: { cookie: 'id', bytes: 'count' },
  },
  REVOCATION_FAILED: {
    level: 'warn',
    says: 'a refresh token could not be revoked when its owner signed out',
    operator:
      'Its cookie is gone all the same. If it goes on, look at the revocation endpoint of the issuer.',
    fields: { error: 'failure', status: 'count' },
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
