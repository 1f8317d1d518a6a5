import { lines } from './line.ts';

const AGAIN = 'Nothing, unless it goes on: it comes again, and ends as a dead letter.';
const NEXT_RUN = 'Nothing, unless it goes on: the next run finds it.';
const OF_EVENT = { eventId: 'id', type: 'words', orgId: 'id' } as const;
const SENDING = { eventId: 'id', orgId: 'id', recipients: 'count' } as const;
const OF_JOB = { redeliveryId: 'id', webhookId: 'id', orgId: 'id' } as const;
const EXAMINED = { examined: 'count', redelivered: 'count' } as const;
const RESUMED = { sent: 'count', removed: 'count', held: 'count', left: 'count', complete: 'flag' } as const;
const SWEPT = { sent: 'count', left: 'count', latestSeconds: 'count', complete: 'flag' } as const;

/** Workers behind the bus: usage, sources, e-mail, redelivery jobs. */
export const BACKGROUND_LINES = lines({
  BUS_REFUSED: {
    level: 'warn',
    says: 'the bus did not take entries, which will be repeated',
    operator: 'Nothing, unless it goes on: then usage, channels and e-mail are late.',
    fields: { reason: 'words', error: 'failure' },
  },
  BUS_ENTRY_GIVEN_UP: {
    level: 'error',
    says: 'an entry of the outbox is given up because the bus refuses it by itself, mostly for its size',
    operator:
      'Read the entry by its `id`: it is not metered or mailed. What the bus gets of its type is too large.',
    fields: { id: 'id', type: 'words', orgId: 'id', bytes: 'count', error: 'failure' },
  },
  BUS_EVENT_UNREADABLE: {
    level: 'error',
    says: 'a message is no event of the bus',
    operator:
      'It becomes a dead letter: look at it there. Somebody else puts events on the bus, or their form has changed.',
    fields: { messageId: 'id', error: 'failure' },
  },
  BUS_EVENT_FAILED: {
    level: 'error',
    says: 'an event of the bus could not be dealt with and will be repeated',
    operator: AGAIN,
    fields: { eventId: 'id', type: 'words', error: 'failure' },
  },
  BUS_EVENT_WAITS: {
    level: 'info',
    says: 'an event of the bus waits for what another worker has in hand, and will be repeated',
    operator: AGAIN,
    fields: { eventId: 'id', type: 'words', error: 'failure' },
  },
  MESSAGE_NOT_HIDDEN: {
    level: 'warn',
    says: 'a message could not be hidden, and is repeated after the visibility timeout of its queue',
    operator: AGAIN,
    fields: { eventId: 'id', error: 'failure' },
  },
  USAGE_NOT_COUNTED: {
    level: 'error',
    says: 'events of an organization could not be counted and will be repeated',
    operator: AGAIN,
    fields: { orgId: 'id', events: 'count', error: 'failure' },
  },
  USAGE_CONTENDED: {
    level: 'error',
    says: 'events of an organization were not counted, because others were writing the same counts, and will be repeated',
    operator: AGAIN,
    fields: { orgId: 'id', events: 'count' },
  },
  SOURCES_SWEPT: {
    level: 'info',
    says: 'sources were due',
    operator: 'Nothing, unless `left` or `latestSeconds` grows: then checks are late.',
    fields: SWEPT,
  },
  NO_SOURCE_DUE: {
    level: 'debug',
    says: 'no source was due',
    operator: 'Nothing.',
    fields: SWEPT,
  },
  CHECKS_NOT_SENT: {
    level: 'error',
    says: 'messages for sources could not be sent and are left to the next run',
    operator: NEXT_RUN,
    fields: { error: 'failure' },
  },
  SOURCE_NOT_MOVED: {
    level: 'warn',
    says: 'a source could not be moved on and will come up again',
    operator: NEXT_RUN,
    fields: { sourceId: 'id', error: 'failure' },
  },
  SOURCE_SHARD_UNREAD: {
    level: 'error',
    says: 'a shard of the sources that are due could not be read',
    operator: `${NEXT_RUN} Then checks of the sources of that shard are late.`,
    fields: { shard: 'count', error: 'failure' },
  },
  VERSION_TEXT_MISSING: {
    level: 'error',
    says: 'the text of a version is missing, the next one is not compared',
    operator:
      'One change of the source is not told to admins. Nothing deletes a text that is needed: find out what did.',
    fields: { sourceId: 'id', version: 'count' },
  },
  CHECK_TOO_LATE: {
    level: 'warn',
    says: 'a check came too late: its source is gone, or was taken by another check',
    operator: 'Nothing, unless there are many: then checks take longer than their lease.',
    fields: { sourceId: 'id' },
  },
  CHECK_POSTPONED: {
    level: 'info',
    says: 'a check waited too long for its organization’s share of checks, and will be sent again when its source is due',
    operator: 'Nothing: the organization has more checks than its share. Other organizations’ checks run.',
    fields: { sourceId: 'id', orgId: 'id' },
  },
  REDELIVERY_ENDED: {
    level: 'info',
    says: 'a redelivery job has ended',
    operator: 'Nothing. `reason` says why it ended early.',
    fields: { ...OF_JOB, ...EXAMINED, status: 'words', reason: 'words' },
  },
  REDELIVERY_STOPPED: {
    level: 'info',
    says: 'a redelivery job was stopped by its owner while a worker had it',
    operator: 'Nothing.',
    fields: { ...OF_JOB, ...EXAMINED },
  },
  REDELIVERY_TAKEN_OVER: {
    level: 'warn',
    says: 'a redelivery job was taken by another worker, or is gone, before its page was done',
    operator: 'Nothing, unless there are many: then pages take longer than their lease.',
    fields: OF_JOB,
  },
  REDELIVERY_RESUMED: {
    level: 'warn',
    says: 'no worker had a redelivery job, and its message was sent again',
    operator:
      'Nothing, unless it goes on for the same job: then its messages become dead letters, or very many jobs wait for their turn.',
    fields: { ...OF_JOB, round: 'count' },
  },
  REDELIVERY_NOT_LOOKED_AT: {
    level: 'error',
    says: 'a redelivery job could not be looked at, or what was found out not be noted',
    operator: NEXT_RUN,
    fields: { ...OF_JOB, error: 'failure' },
  },
  REDELIVERIES_NOT_SENT: {
    level: 'error',
    says: 'messages for redelivery jobs could not be sent',
    operator: NEXT_RUN,
    fields: { error: 'failure' },
  },
  REDELIVERY_SHARD_UNREAD: {
    level: 'error',
    says: 'a shard of the redelivery jobs that run could not be read',
    operator: `${NEXT_RUN} Then jobs of that shard whose message is lost stand still.`,
    fields: { shard: 'count', error: 'failure' },
  },
  REDELIVERIES_LOOKED_AT: {
    level: 'info',
    says: 'redelivery jobs that run for long were looked at',
    operator: 'Nothing, unless `left` is more than 0 again and again.',
    fields: RESUMED,
  },
  NO_REDELIVERY_TO_LOOK_AT: {
    level: 'debug',
    says: 'no redelivery job runs for long',
    operator: 'Nothing.',
    fields: RESUMED,
  },
  ADMINS_TOLD: { level: 'info', says: 'admins were told', operator: 'Nothing.', fields: SENDING },
  ADMINS_TOLD_BEFORE: {
    level: 'info',
    says: 'admins were told of this recently',
    operator: 'Nothing.',
    fields: OF_EVENT,
  },
  NOTICE_IN_DIGEST: {
    level: 'info',
    says: 'the organization had used up its e-mails of the day, and the change is left to the digest',
    operator: 'Nothing.',
    fields: OF_EVENT,
  },
  MAIL_CEILING_REACHED: {
    level: 'warn',
    says: 'all organizations together had used up the e-mails of content for the day',
    operator: 'See the runbook: the change is in a digest, and a digest is sent on a later day.',
    fields: OF_EVENT,
  },
  DIGESTS_NOT_SENT: {
    level: 'error',
    says: 'messages for digests could not be sent, or the digests that are due not be read',
    operator: NEXT_RUN,
    fields: { error: 'failure' },
  },
  SANDBOX_UNTOLD: {
    level: 'debug',
    says: 'nobody is told of what happens in a sandbox',
    operator: 'Nothing.',
    fields: OF_EVENT,
  },
  NEWS_OUTDATED: {
    level: 'info',
    says: 'what admins were to be told of is of no interest any more',
    operator: 'Nothing.',
    fields: OF_EVENT,
  },
  ADDRESSES_UNFIT: {
    level: 'warn',
    says: 'addresses of admins cannot be written to',
    operator: 'Correct the addresses of that organization in the user pool.',
    fields: { ...OF_EVENT, unfit: 'count' },
  },
  NO_ADMIN: {
    level: 'warn',
    says: 'there is no admin to tell',
    operator: 'The organization has no admin in the user pool: tell its contact.',
    fields: OF_EVENT,
  },
  MAIL_REFUSED: {
    level: 'warn',
    says: 'an e-mail was refused',
    operator: `${AGAIN} Look at the account's sending limits and suppression list at SES.`,
    fields: { ...SENDING, reason: 'words' },
  },
  MAIL_NOT_RECORDED: {
    level: 'warn',
    says: 'that an e-mail was sent could not be recorded',
    operator: 'Nothing: its claim keeps others from sending it again.',
    fields: { ...SENDING, error: 'failure' },
  },
  MAIL_OUTCOME_UNKNOWN: {
    level: 'error',
    says: 'nobody knows whether an e-mail was sent',
    operator: 'It is not sent again. Look it up at SES, and tell the admins if it is not there.',
    fields: { ...SENDING, reason: 'words' },
  },
  MAIL_ABANDONED: {
    level: 'error',
    says: 'an e-mail was begun, and nobody knows what became of it',
    operator: 'As MAIL_OUTCOME_UNKNOWN: its worker was lost.',
    fields: SENDING,
  },
});
