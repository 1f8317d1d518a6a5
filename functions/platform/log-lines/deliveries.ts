import { lines } from './line.ts';

const ATTEMPT_FIELDS = {
  deliveryId: 'id',
  webhookId: 'id',
  orgId: 'id',
  attempt: 'count',
  status: 'count',
} as const;

const DEFECT = 'A defect, or rows of a version that this one cannot read.';

export const DELIVERY_LINES = lines({
  EVENT_FANNED_OUT: {
    level: 'debug',
    message: 'the deliveries of an event were created',
    operator: 'Nothing.',
    fields: { eventId: 'id', orgId: 'id', reminders: 'count' },
  },
  FAN_OUT_FAILED: {
    level: 'error',
    message: 'an outbox entry could not be processed and is retried',
    operator: 'Nothing, unless it continues: a function of its own retries the entry, for three days.',
    fields: { eventId: 'id', deliveryId: 'id', error: 'failure' },
  },
  REMINDER_REFUSED: {
    level: 'error',
    message: 'a queue refused a delivery message; the outbox entry is retried',
    operator: 'Nothing, unless it continues: then check the queue and its key.',
    fields: { eventId: 'id', deliveryId: 'id' },
  },
  ATTEMPT_SUCCEEDED: {
    level: 'debug',
    message: 'an attempt succeeded',
    operator: 'Nothing.',
    fields: ATTEMPT_FIELDS,
  },
  ATTEMPT_FAILED: {
    level: 'info',
    message: 'an attempt failed',
    operator:
      'Nothing: `outcome` says whether the delivery is retried or has ended, `reason` is what the customer reads. If one `webhookId` has many, see the runbook endpoint-storm.md.',
    fields: { ...ATTEMPT_FIELDS, outcome: 'words', reason: 'words' },
  },
  ATTEMPT_OUTLIVED: {
    level: 'info',
    message: 'an attempt ended after its lease; another worker decides on the delivery',
    operator: 'Nothing, unless there are many: then attempts take longer than the configured timeout.',
    fields: { ...ATTEMPT_FIELDS, reason: 'words' },
  },
  DELIVERY_LEFT: {
    level: 'error',
    message: 'a delivery could not be processed; its message stays in the queue',
    operator: 'Nothing, unless it continues: the message is retried, and ends as a dead letter.',
    fields: { deliveryId: 'id', error: 'failure' },
  },
  BATCH_READ_REFUSED: {
    level: 'warn',
    message: 'the read of a batch was refused; its rows are read one by one',
    operator: 'Nothing, unless it continues: then find the row that `DELIVERY_LEFT` names.',
    fields: { error: 'failure' },
  },
  EVENT_MISSING: {
    level: 'error',
    message: 'a delivery ends because its event is gone',
    operator:
      'The customer sees `event_missing`. Find out what deleted the event: nothing deletes it before its expiry.',
    fields: { deliveryId: 'id', eventId: 'id' },
  },
  ENDPOINT_DISABLED: {
    level: 'warn',
    message: 'an endpoint was disabled after consecutive failures',
    operator: 'Nothing: its admins get an e-mail. Many at once: check whether the service is at fault.',
    fields: { webhookId: 'id', orgId: 'id' },
  },
  SLOW_NOT_MARKED: {
    level: 'warn',
    message: 'a slow endpoint could not be marked',
    operator: 'Nothing: the next slow attempt marks it.',
    fields: { webhookId: 'id', error: 'failure' },
  },
  STALL_NOT_NOTED: {
    level: 'warn',
    message: 'a stalled endpoint could not be marked, or its mark not be removed',
    operator: 'Nothing: the next attempt retries it.',
    fields: { webhookId: 'id', error: 'failure' },
  },
  REMINDER_UNREADABLE: {
    level: 'error',
    message: 'a queue message is not a delivery message and is dropped',
    operator: `${DEFECT} The reconciler resends it if its delivery is open.`,
    fields: { messageId: 'id', error: 'failure' },
  },
  DELIVERIES_WATCHED: {
    level: 'debug',
    message: 'open deliveries were added to the due index',
    operator: 'Nothing.',
    fields: { count: 'count' },
  },
  DELIVERY_UNREADABLE: {
    level: 'error',
    message: 'a stream record is not a delivery and is not counted',
    operator: `${DEFECT} The ledger audit corrects the counts; check the delivery.`,
    fields: { sequence: 'id', error: 'failure' },
  },
  TENANT_UNKNOWN: {
    level: 'error',
    message: 'deliveries of an unknown tenant are not counted',
    operator: 'Rows of an organization contradict each other: check the organization and its generation.',
    fields: { orgId: 'id', error: 'failure' },
  },
  STREAM_RECORD_UNREADABLE: {
    level: 'error',
    message: 'a stream record is not an outbox entry and is abandoned',
    operator: `${DEFECT} Its event is not delivered: find the entry by its position in the stream.`,
    fields: { sequence: 'id', error: 'failure' },
  },
});

const RETRIED = 'Nothing, unless it continues: the caller retries.';

export const REQUEST_LINES = lines({
  REQUEST_ANSWERED: {
    level: 'debug',
    message: 'a request was answered',
    operator: 'Nothing.',
    fields: { status: 'count' },
  },
  REQUEST_FAILED: {
    level: 'error',
    message: 'the request failed',
    operator: 'A defect: the caller got 500. Find the place by the error and its frames.',
    fields: { error: 'failure' },
  },
  DEPENDENCY_UNAVAILABLE: {
    level: 'error',
    message: 'a dependency is unavailable',
    operator: `The caller got 503. ${RETRIED} Then check the throttles and AWS's health page.`,
    fields: { error: 'failure' },
  },
  RATE_LIMITER_FAILED: {
    level: 'warn',
    message: 'the rate limiter failed, the request passes',
    operator: 'Requests are not limited meanwhile: check the table of the rate windows.',
    fields: { error: 'failure' },
  },
  KEY_USE_NOT_NOTED: {
    level: 'warn',
    message: 'the use of an API key could not be recorded, the request passes',
    operator:
      'The last use shown is some minutes too early. If it continues, check the table of the rate windows.',
    fields: { error: 'failure' },
  },
  CALLER_NOT_LIVE: {
    level: 'warn',
    message: 'a live key or a session names an organization that does not exist or is not live',
    operator: 'A key or a claim of the user pool is wrong: it was refused with 401. Find out who made it.',
    fields: { orgId: 'id' },
  },
  SANDBOX_KEY_REFUSED: {
    level: 'warn',
    message: 'a sandbox key is refused: its pairing is invalid',
    operator: 'The rows of the pairing contradict each other: compare the two organizations.',
    fields: { keyId: 'id', liveOrgId: 'id', why: 'words' },
  },
  SIGNED_IN: {
    level: 'info',
    message: 'a user signed in to the dashboard',
    operator: 'Nothing.',
    fields: { userId: 'id', orgId: 'id' },
  },
  SIGN_IN_REFUSED: {
    level: 'info',
    message: 'a sign-in to the dashboard or the renewal of a session was refused',
    operator:
      'Nothing when it is rare: the user took too long, or used a link of another user. If no user can sign in, compare the client, its URLs and scopes at the issuer with the deployment’s context; the issuer reports the reason.',
    fields: { why: 'words', status: 'count' },
  },
  SESSION_TOO_LARGE: {
    level: 'warn',
    message: 'a token of the issuer is too large for a cookie',
    operator:
      'The user cannot sign in, or must sign in whenever the session ends: configure fewer claims at the issuer.',
    fields: { cookie: 'id', bytes: 'count' },
  },
  REVOCATION_FAILED: {
    level: 'warn',
    message: 'a refresh token could not be revoked when its owner signed out',
    operator: 'The cookie is removed anyway. If it continues, check the revocation endpoint of the issuer.',
    fields: { error: 'failure', status: 'count' },
  },
  ORGANIZATION_ENROLLED: {
    level: 'info',
    message: 'an organization was created',
    operator: 'Nothing: an operator asked for it.',
    fields: { orgId: 'id', keyId: 'id' },
  },
  INVOCATION_FAILED: {
    level: 'error',
    message: 'the invocation failed as a whole',
    operator: 'It is retried. If it continues, find the place by the error and its frames.',
    fields: { error: 'failure' },
  },
});
