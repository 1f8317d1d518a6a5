import { lines } from './line.ts';

const RETRIED = 'Nothing, unless it continues: the message is retried, and ends as a dead letter.';
const NEXT_RUN = 'Nothing, unless it continues: the next run retries it.';
const EVENT_FIELDS = { eventId: 'id', type: 'words', orgId: 'id' } as const;
const MAIL_FIELDS = { eventId: 'id', orgId: 'id', recipients: 'count' } as const;
const JOB_FIELDS = { redeliveryId: 'id', webhookId: 'id', orgId: 'id' } as const;
const JOB_COUNTS = { examined: 'count', redelivered: 'count' } as const;
const RESUME_FIELDS = {
  sent: 'count',
  removed: 'count',
  held: 'count',
  left: 'count',
  complete: 'flag',
} as const;
const SCHEDULE_FIELDS = { sent: 'count', left: 'count', latestSeconds: 'count', complete: 'flag' } as const;

/** Workers behind the bus: usage, sources, e-mail, redelivery jobs. */
export const BACKGROUND_LINES = lines({
  BUS_REFUSED: {
    level: 'warn',
    message: 'the bus did not take entries, which are retried',
    operator: 'Nothing, unless it continues: then usage, source checks and e-mail are late.',
    fields: { reason: 'words', error: 'failure' },
  },
  BUS_ENTRY_GIVEN_UP: {
    level: 'error',
    message: 'an outbox entry is abandoned because the bus refuses it permanently, mostly for its size',
    operator: 'Read the entry by its `id`: it is not metered or mailed. Reduce the bus fields of its type.',
    fields: { id: 'id', type: 'words', orgId: 'id', bytes: 'count', error: 'failure' },
  },
  BUS_EVENT_UNREADABLE: {
    level: 'error',
    message: 'a message is not a bus event',
    operator:
      'It becomes a dead letter: read it there. Another sender puts events on the bus, or their form has changed.',
    fields: { messageId: 'id', error: 'failure' },
  },
  BUS_EVENT_FAILED: {
    level: 'error',
    message: 'a bus event could not be processed and is retried',
    operator: RETRIED,
    fields: { eventId: 'id', type: 'words', error: 'failure' },
  },
  BUS_EVENT_WAITS: {
    level: 'info',
    message: 'a bus event waits for another worker and is retried',
    operator: RETRIED,
    fields: { eventId: 'id', type: 'words', error: 'failure' },
  },
  MESSAGE_NOT_HIDDEN: {
    level: 'warn',
    message: 'the visibility timeout of a message could not be set; it is retried after that of its queue',
    operator: RETRIED,
    fields: { eventId: 'id', error: 'failure' },
  },
  USAGE_NOT_COUNTED: {
    level: 'error',
    message: 'events of an organization could not be counted and are retried',
    operator: RETRIED,
    fields: { orgId: 'id', events: 'count', error: 'failure' },
  },
  USAGE_CONTENDED: {
    level: 'error',
    message: 'events of an organization were not counted because of contention and are retried',
    operator: RETRIED,
    fields: { orgId: 'id', events: 'count' },
  },
  SOURCES_SWEPT: {
    level: 'info',
    message: 'sources were due',
    operator: 'Nothing, unless `left` or `latestSeconds` grows: then checks are late.',
    fields: SCHEDULE_FIELDS,
  },
  NO_SOURCE_DUE: {
    level: 'debug',
    message: 'no source was due',
    operator: 'Nothing.',
    fields: SCHEDULE_FIELDS,
  },
  CHECKS_NOT_SENT: {
    level: 'error',
    message: 'messages of source checks could not be sent',
    operator: NEXT_RUN,
    fields: { error: 'failure' },
  },
  SOURCE_NOT_MOVED: {
    level: 'warn',
    message: 'the due time of a source could not be moved; it becomes due again',
    operator: NEXT_RUN,
    fields: { sourceId: 'id', error: 'failure' },
  },
  SOURCE_SHARD_UNREAD: {
    level: 'error',
    message: 'a shard of the due sources could not be read',
    operator: `${NEXT_RUN} Then checks of the sources of that shard are late.`,
    fields: { shard: 'count', error: 'failure' },
  },
  VERSION_TEXT_MISSING: {
    level: 'error',
    message: 'the text of a version is missing, the next one is not compared',
    operator:
      'Admins are not notified of one change. Find out what deleted the text: nothing deletes a text in use.',
    fields: { sourceId: 'id', version: 'count' },
  },
  CHECK_TOO_LATE: {
    level: 'warn',
    message: 'a check was too late: its source is gone, or another check has the lease',
    operator: 'Nothing, unless there are many: then checks take longer than their lease.',
    fields: { sourceId: 'id' },
  },
  CHECK_POSTPONED: {
    level: 'info',
    message: 'a check waited too long for a slot of its organization; its source becomes due again',
    operator: 'Nothing: the organization uses all its slots. Other organizations’ checks run.',
    fields: { sourceId: 'id', orgId: 'id' },
  },
  REDELIVERY_ENDED: {
    level: 'info',
    message: 'a redelivery job has ended',
    operator: 'Nothing. `reason` says why it ended early.',
    fields: { ...JOB_FIELDS, ...JOB_COUNTS, status: 'words', reason: 'words' },
  },
  REDELIVERY_STOPPED: {
    level: 'info',
    message: 'a redelivery job was stopped by its owner while a worker ran it',
    operator: 'Nothing.',
    fields: { ...JOB_FIELDS, ...JOB_COUNTS },
  },
  REDELIVERY_TAKEN_OVER: {
    level: 'warn',
    message:
      'another worker has the lease of a redelivery job, or the job is gone, before its page was complete',
    operator: 'Nothing, unless there are many: then pages take longer than their lease.',
    fields: JOB_FIELDS,
  },
  REDELIVERY_RESUMED: {
    level: 'warn',
    message: 'no worker ran a redelivery job, and its message was resent',
    operator:
      'Nothing, unless it continues for the same job: then its messages become dead letters, or very many jobs wait.',
    fields: { ...JOB_FIELDS, round: 'count' },
  },
  REDELIVERY_NOT_LOOKED_AT: {
    level: 'error',
    message: 'a redelivery job could not be checked, or the result not be recorded',
    operator: NEXT_RUN,
    fields: { ...JOB_FIELDS, error: 'failure' },
  },
  REDELIVERIES_NOT_SENT: {
    level: 'error',
    message: 'messages of redelivery jobs could not be sent',
    operator: NEXT_RUN,
    fields: { error: 'failure' },
  },
  REDELIVERY_SHARD_UNREAD: {
    level: 'error',
    message: 'a shard of the running redelivery jobs could not be read',
    operator: `${NEXT_RUN} Until then, jobs of that shard with a lost message do not continue.`,
    fields: { shard: 'count', error: 'failure' },
  },
  REDELIVERIES_LOOKED_AT: {
    level: 'info',
    message: 'long-running redelivery jobs were checked',
    operator: 'Nothing, unless `left` stays above 0.',
    fields: RESUME_FIELDS,
  },
  NO_REDELIVERY_TO_LOOK_AT: {
    level: 'debug',
    message: 'no redelivery job has run for long',
    operator: 'Nothing.',
    fields: RESUME_FIELDS,
  },
  ADMINS_TOLD: { level: 'info', message: 'admins were notified', operator: 'Nothing.', fields: MAIL_FIELDS },
  ADMINS_TOLD_BEFORE: {
    level: 'info',
    message: 'admins were notified of this recently',
    operator: 'Nothing.',
    fields: EVENT_FIELDS,
  },
  MAIL_OVER_BUDGET: {
    level: 'info',
    message: 'the organization’s budget for such e-mails is used up for the day: only the dashboard shows it',
    operator: 'Nothing.',
    fields: EVENT_FIELDS,
  },
  MAIL_CEILING_REACHED: {
    level: 'warn',
    message: 'the budget of all organizations for e-mails about content changes is used up for the day',
    operator: 'See the runbook: only the dashboard shows the change.',
    fields: EVENT_FIELDS,
  },
  SANDBOX_UNTOLD: {
    level: 'debug',
    message: 'no e-mail is sent for a sandbox',
    operator: 'Nothing.',
    fields: EVENT_FIELDS,
  },
  NEWS_OUTDATED: {
    level: 'info',
    message: 'a notification is obsolete',
    operator: 'Nothing.',
    fields: EVENT_FIELDS,
  },
  ADDRESSES_UNFIT: {
    level: 'warn',
    message: 'addresses of admins are invalid',
    operator: 'Correct the addresses of that organization in the user pool.',
    fields: { ...EVENT_FIELDS, unfit: 'count' },
  },
  NO_ADMIN: {
    level: 'warn',
    message: 'the organization has no admin to notify',
    operator: 'The organization has no admin in the user pool: contact it.',
    fields: EVENT_FIELDS,
  },
  MAIL_REFUSED: {
    level: 'warn',
    message: 'an e-mail was refused',
    operator: `${RETRIED} Check the account's sending limits and suppression list in SES.`,
    fields: { ...MAIL_FIELDS, reason: 'words' },
  },
  MAIL_NOT_RECORDED: {
    level: 'warn',
    message: 'a sent e-mail could not be recorded',
    operator: 'Nothing: its claim prevents a second one.',
    fields: { ...MAIL_FIELDS, error: 'failure' },
  },
  MAIL_OUTCOME_UNKNOWN: {
    level: 'error',
    message: 'the outcome of an e-mail is unknown',
    operator: 'It is not retried. Look it up in SES, and notify the admins if it is not there.',
    fields: { ...MAIL_FIELDS, reason: 'words' },
  },
  MAIL_ABANDONED: {
    level: 'error',
    message: 'a worker claimed an e-mail and was lost; the outcome is unknown',
    operator: 'As for MAIL_OUTCOME_UNKNOWN.',
    fields: MAIL_FIELDS,
  },
});
