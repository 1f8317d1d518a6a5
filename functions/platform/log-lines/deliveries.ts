import { lines } from './line.ts';

const ATTEMPT = {
  deliveryId: 'id',
  webhookId: 'id',
  orgId: 'id',
  attempt: 'count',
  status: 'count',
} as const;

const DEFECT = 'A defect, or rows of a version that this one cannot read.';

/** Events and deliveries. */
export const DELIVERY_LINES = lines({
  EVENT_FANNED_OUT: {
    level: 'debug',
    says: 'an event has its deliveries',
    operator: 'Nothing.',
    fields: { eventId: 'id', orgId: 'id', reminders: 'count' },
  },
  FAN_OUT_FAILED: {
    level: 'error',
    says: 'an entry of the outbox could not be dealt with and will be repeated',
    operator:
      'Nothing, unless it goes on: then events of the same shard wait behind it, and after many repetitions it is a dead letter.',
    fields: { eventId: 'id', deliveryId: 'id', error: 'failure' },
  },
  REMINDER_REFUSED: {
    level: 'error',
    says: 'a queue refused a delivery message, and the entry of the outbox will be repeated',
    operator: 'Nothing, unless it goes on: then look at the queue and its key.',
    fields: { eventId: 'id', deliveryId: 'id' },
  },
  ATTEMPT_SUCCEEDED: {
    level: 'debug',
    says: 'an attempt succeeded',
    operator: 'Nothing.',
    fields: ATTEMPT,
  },
  ATTEMPT_FAILED: {
    level: 'info',
    says: 'an attempt failed',
    operator:
      "Nothing: `outcome` is what it made of the delivery, `reason` is what the customer reads. Many of one `webhookId`: see the runbook of an endpoint's storm.",
    fields: { ...ATTEMPT, outcome: 'words', reason: 'words' },
  },
  ATTEMPT_OUTLIVED: {
    level: 'info',
    says: 'an attempt ended after its lease, and somebody else decides on the delivery',
    operator:
      'Nothing, unless there are many: then attempts take longer than the timeout that the stack was given.',
    fields: { ...ATTEMPT, reason: 'words' },
  },
  DELIVERY_LEFT: {
    level: 'error',
    says: 'a delivery could not be dealt with and is left to its queue',
    operator: 'Nothing, unless it goes on: its message comes again, and ends as a dead letter.',
    fields: { deliveryId: 'id', error: 'failure' },
  },
  EVENT_MISSING: {
    level: 'error',
    says: 'a delivery ends because its event is gone',
    operator:
      'The customer sees `event_missing`. Nothing deletes an event before its time: find out what did.',
    fields: { deliveryId: 'id', eventId: 'id' },
  },
  ENDPOINT_DISABLED: {
    level: 'warn',
    says: 'an endpoint was disabled after consecutive failures',
    operator: 'Nothing: its admins get an e-mail. Many at once: look whether it is us.',
    fields: { webhookId: 'id', orgId: 'id' },
  },
  SLOW_NOT_MARKED: {
    level: 'warn',
    says: 'a slow endpoint could not be marked',
    operator: 'Nothing: the next slow attempt marks it.',
    fields: { webhookId: 'id', error: 'failure' },
  },
  STALL_NOT_NOTED: {
    level: 'warn',
    says: 'it could not be noted of an endpoint that its attempts stall, or no longer do',
    operator: 'Nothing: the next attempt notes it.',
    fields: { webhookId: 'id', error: 'failure' },
  },
  REMINDER_UNREADABLE: {
    level: 'error',
    says: 'a queue message is no delivery message and is dropped',
    operator: `${DEFECT} If it was one, the reconciler sends it again.`,
    fields: { messageId: 'id', error: 'failure' },
  },
  DELIVERIES_WATCHED: {
    level: 'debug',
    says: 'deliveries are watched',
    operator: 'Nothing.',
    fields: { count: 'count' },
  },
  DELIVERY_UNREADABLE: {
    level: 'error',
    says: 'a stream record is no delivery and is not counted',
    operator: `${DEFECT} The audit puts the ledger right; the delivery itself has to be looked at.`,
    fields: { sequence: 'id', error: 'failure' },
  },
  TENANT_UNKNOWN: {
    level: 'error',
    says: 'deliveries of an unknown tenant are not counted',
    operator: 'Rows of an organization contradict each other: look at the organization and its generation.',
    fields: { orgId: 'id', error: 'failure' },
  },
  STREAM_RECORD_UNREADABLE: {
    level: 'error',
    says: 'a stream record is no entry of the outbox and is given up',
    operator: `${DEFECT} What it owed is not delivered: find the entry by its place in the stream.`,
    fields: { sequence: 'id', error: 'failure' },
  },
});

const AGAIN = 'Nothing, unless it goes on: the caller repeats it.';

/** API requests and invocations. */
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
