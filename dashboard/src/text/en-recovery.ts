import type { Schema } from '../api/client.ts';
import { plural } from './plural.ts';

const events = (count: number) => plural(count, 'event', 'events');
const deliveries = (count: number) => plural(count, 'delivery', 'deliveries');

/** What recovery, failures and forms say, in English. */
export const recovery = {
  recover: {
    title: 'Recover an endpoint',
    complete: 'Recovered',
    completeAbout: 'The new endpoint receives all events.',
    action: 'Recover',
    actionOf: (url: string) => `Recover: ${url}`,
    back: 'The endpoint',
    disabledTitle: 'This endpoint is disabled',
    oldTitle: 'The old endpoint is disabled',
    disabledAgain: 'The receiver failed again: the new endpoint is disabled, too',
    disabledAbout:
      'It receives no more events, and it stays disabled. To recover, register its URL again, or contact support.',
    inARow: (count: string, most: string) => `${count} of ${most} failures in a row`,
    firstFailure: 'First failure',
    support: 'By support',
    missed: 'Not delivered',
    missedCount: (count: number, written: string) => `${written} ${deliveries(count)} failed or were skipped`,
    missedWeek: 'in the last 7 days',
    missedSince: 'since the first failure',
    failingTitle: 'This endpoint is failing',
    failingAbout:
      'It is not disabled yet. Repair the receiver, send a test event, then resend the deliveries that failed. The next delivery that succeeds ends the count.',
    healthyTitle: 'Nothing to recover',
    healthyAbout: 'This endpoint is active, and its last delivery did not fail.',
    steps: 'Steps of the recovery',
    step: (number: number, name: string) => `${number}. ${name}`,
    states: { done: 'Done', current: 'Next', later: 'Later' },
    register: {
      title: 'Register the URL again',
      about:
        'A new endpoint with the same URL, event types, filter, description and limit. It has a new signing secret, which your receiver needs. Repair the receiver first.',
      recovers:
        'A test event is sent to it at once, and retried for about an hour. Once it is delivered, everything that the old endpoint missed is resent.',
      action: 'Register again',
      change: 'Change the settings',
      urlHint: 'By its URL the new endpoint takes the place of the old one. Change it after registering.',
      done: 'New endpoint',
      lostSecret:
        'The signing secret is not shown again. If it is lost, delete the new endpoint and register again.',
      exists: 'The URL is registered again already, perhaps in another tab. Continue with the next step.',
      limitTitle: 'The limit of endpoints is reached',
      limitAbout:
        'Delete an endpoint that you no longer need, then continue here. The old endpoint counts, too.',
      limitAction: 'See all endpoints',
    },
    resend: {
      title: 'Resend what is missing',
      about:
        'Everything missed since the outage, from before the registration, too. Events that have arrived, here or at the old endpoint, are not sent twice.',
      waits:
        'Resending begins once the test event is delivered. The receiver needs the new signing secret for it. The service checks every few seconds at first, later every 15 minutes.',
      testFirst:
        'Send a test event first: what is missing is counted and resent once one has been delivered.',
      sinceHint:
        'In your time zone. Preset: two hours before the first failure. An earlier time does no harm.',
      nothing: 'Nothing is missing.',
    },
    done: {
      title: 'Delete the old endpoint',
      about: 'The old endpoint receives no more events. Its deliveries stay in the event log for 30 days.',
      resent: (count: number, written: string) => `${written} ${events(count)} resent.`,
      follow: 'See the deliveries of the new endpoint',
      deleteTitle: 'Delete the old endpoint?',
    },
  },
  replace: {
    action: 'Replace',
    title: 'Replace this endpoint',
    about:
      'A new endpoint with the same settings and a new signing secret. Both receive each event, under the same webhook-id, until you delete this one.',
  },
  resend: {
    count: 'Count events',
    countAgain: 'Count again',
    counting: 'Counting',
    until: 'Until',
    untilHint: 'Leave it empty to include everything up to now.',
    untilInvalid: 'Enter a time after the beginning.',
    found: (count: number, written: string) => `${written} ${events(count)} would be resent.`,
    foundSoFar: (count: number, written: string) =>
      count === 0 ? 'None found so far.' : `${written} ${events(count)} found so far.`,
    byType: 'By event type',
    start: (count: number, written: string) => `Resend ${written} ${events(count)}`,
    none: 'There is nothing to resend.',
    other: 'Another job of this endpoint is running. Wait until it ends, or stop it.',
    confirmTitle: (count: number, written: string) => `Resend ${written} ${events(count)}?`,
    confirmSucceeded:
      'Deliveries that succeeded are included. The receiver gets their events again under the same webhook-id: if it still knows the id, it drops them as duplicates.',
    stopped: {
      cancelled: 'The job was stopped. What was resent stays resent. Count again to resend the rest.',
      endpoint_disabled: 'The job was stopped because the endpoint was disabled: its receiver failed again.',
      endpoint_deleted: 'The job was stopped because the endpoint was deleted.',
      endpoint_paused: 'The job was stopped because the endpoint was paused. Resume it, then count again.',
      test_failed:
        'Nothing was resent, because the test event was not delivered. Repair the receiver, send a test event, then count and resend.',
    } satisfies Record<NonNullable<Schema<'Redelivery'>['reason']>, string>,
    said: (percent: string) => `Resending: ${percent}`,
    saidDone: (count: number, written: string) => `Done: ${written} ${events(count)} resent.`,
    eventFilter: 'The filter by event does not apply here: events of all types are resent.',
    disabled: 'This endpoint is disabled, so nothing can be resent to it.',
    paused: 'This endpoint is paused, so nothing can be resent to it. Resume it first.',
  },
  failures: {
    title: 'Failures',
    about: 'Failed and retrying deliveries of all endpoints, grouped by cause.',
    statuses: { any: 'Failed or retrying', exhausted: 'Failed' },
    list: 'Failures by cause',
    times: (count: string) => `${count} ×`,
    noResponse: 'No response',
    noMessage: 'without a message',
    first: 'First',
    last: 'Last',
    retrying: (_count: number, written: string) => `${written} of them will be retried`,
    whatToDo: 'What to do',
    whatToDoAbout: (code: string) => `What to do about ${code}`,
    example: 'Example of the message',
    deliveries: (count: number, written: string) => `${written} ${deliveries(count)}`,
    more: 'More deliveries',
    read: (count: number, written: string) => `${written} ${deliveries(count)} read.`,
    readMore: 'Read more',
    refresh: 'Refresh',
    readAll: 'These are all in this period.',
    none: 'No failures',
    atDeleted: (count: number, shown: string) =>
      `${shown} more ${plural(count, 'delivery', 'deliveries')} failed at deleted endpoints. See the event log`,
    noneOf: {
      any: 'No delivery in this period failed or is waiting for a retry.',
      exhausted: 'No delivery in this period failed after all its attempts.',
    },
    disabledEndpoints: 'Disabled, so nothing can be resent to it:',
    resend: 'Resend this group',
    resendOf: (cause: string) => `Resend this group: ${cause}`,
    confirmTitle: 'Resend this group?',
    confirm: (count: number, written: string) =>
      `${written} ${events(count)} ${plural(count, 'is', 'are')} resent, each once to its endpoint. Failed deliveries are resent as new ones; retrying ones are attempted now. An event that has arrived since is left out.`,
    left: (count: number, written: string) =>
      `${written} ${events(count)} of disabled or paused endpoints ${plural(count, 'is', 'are')} left out.`,
    start: (count: number, written: string) => `Resend ${written} ${events(count)}`,
    progressTitle: 'Resending this group',
    stay: 'Resending stops when this page is left. To continue, resend the group again: what was resent is left out.',
    job: 'Resend all failures of this endpoint by a job, which needs no open page',
    continue: 'Continue',
    sent: (_count: number, written: string) => `${written} resent`,
    arrived: (_count: number, written: string) => `${written} had arrived already`,
    refused: (_count: number, written: string) => `${written} refused`,
    stopped: 'Stopped.',
    finished: 'Done.',
  },
  numbers: {
    rate: 'Failed and skipped deliveries count against it.',
    outcomes: 'Outcomes',
    openAbout: 'Not ended yet, so not in the rate.',
    latency: 'Attempt duration',
    latencyHead: 'p50 / p95',
    latencySlow: (p95: string) => `Median. 95 of 100 take at most ${p95}.`,
    latencyOf: (p50: string, p95: string) => `${p50} / ${p95}`,
    seeList: (name: string, count: string) => `${name}: ${count}. See the list`,
  },
  filter: {
    channelIdsHint:
      'Only events of these channels, one ID per line. Events without a channel are sent regardless. Leave it empty for all.',
    roles: 'Roles',
    rolesHint:
      'Only messages of these authors. Events without a role are sent regardless. Choose none for all.',
    noEvents: (days: number) => `No event in the last ${days} days to preview the filter with.`,
    sent: (count: number, written: string) =>
      `${written} recent ${events(count)} would be sent with these settings`,
    lost: (count: number, written: string) =>
      count === 0
        ? 'Nothing that is sent today would be left out.'
        : `${written} ${events(count)} that ${plural(count, 'is', 'are')} sent today would no longer be.`,
    peak: (written: string) => `At most ${written} would be sent within one second.`,
    lookedAtAll: (count: number, written: string, days: number) =>
      `Checked: ${plural(count, 'the only event', `all ${written} events`)} of the last ${days} days.`,
    lookedAt: (written: string, since: string) => `Checked: the newest ${written} events, back to ${since}.`,
    examples: 'Examples, newest first',
  },
  forms: {
    correct: 'Correct the marked fields',
    /** By the codes of the API (docs/reference/errors.md). */
    faults: {
      required: () => 'This field is required.',
      unknown_field: () => 'The service does not know this field.',
      duplicate: () => 'Name each value once.',
      invalid_type: () => 'This value has the wrong type.',
      invalid_format: () => 'This value has the wrong form.',
      invalid_characters: () => 'Remove control and invisible characters, and spaces from a URL.',
      not_allowed: () => 'This value is not allowed.',
      too_short: (limit) => `Use at least ${limit} characters.`,
      too_long: (limit) => `Use at most ${limit} characters.`,
      too_few: (limit) => `Choose at least ${limit}.`,
      too_many: (limit) => `Choose at most ${limit}.`,
      too_small: (limit) => `Enter ${limit} or more.`,
      too_large: (limit) => `Enter ${limit} or less.`,
      url_scheme: () => 'The URL must begin with https://.',
      url_credentials: () => 'The URL must not contain a user name or password.',
      url_fragment: () => 'The URL must not contain a # part.',
      url_port: () => 'The port must be 443, or 1024 or higher.',
      url_host: () => 'The URL must have a public host name or public IP address.',
      url_blocked: () => 'The operator of this service has blocked this host.',
    } as Record<string, (limit: number) => string>,
    all: 'Select all',
    noneOfThem: 'Select none',
    meaning: 'Meaning and example payload',
    example: (type: string) => `Example of ${type}`,
    descriptionHint: 'What the endpoint is for. Optional.',
    maxPerSecond: 'Attempts per second',
    maxPerSecondHint: 'The maximum, 1 to 1,000. Leave it empty for no limit.',
    maxPerSecondInvalid: 'Enter a whole number from 1 to 1,000.',
  },
};
