import type { DeliveryStatus } from '../../api/webhooks.ts';

/**
 * What a list is narrowed to, as the page's address has it; all its parts have a value that changes nothing.
 */
export interface Filters {
  status: StatusChoice;
  /** An event type, or `any`. */
  event: string;
  time: TimeChoice;
}

/** Choices of the status, and which statuses they stand for. */
export const STATUS_CHOICES = {
  any: undefined,
  failed: ['exhausted', 'skipped'],
  open: ['pending', 'retrying'],
  succeeded: ['succeeded'],
  pending: ['pending'],
  retrying: ['retrying'],
  exhausted: ['exhausted'],
  skipped: ['skipped'],
} as const satisfies Record<string, readonly DeliveryStatus[] | undefined>;
export type StatusChoice = keyof typeof STATUS_CHOICES;

const HOUR_MS = 3_600_000;
/** Choices of the time, and how long ago it begins. */
export const TIME_CHOICES = {
  any: undefined,
  hour: HOUR_MS,
  day: 24 * HOUR_MS,
  week: 168 * HOUR_MS,
} as const satisfies Record<string, number | undefined>;
export type TimeChoice = keyof typeof TIME_CHOICES;

const isStatusChoice = (name: string | null): name is StatusChoice =>
  name !== null && Object.hasOwn(STATUS_CHOICES, name);
export const isTimeChoice = (name: string | null): name is TimeChoice =>
  name !== null && Object.hasOwn(TIME_CHOICES, name);

/** Reads an address, which may say anything: what is not understood narrows nothing. */
export function filtersIn(parameters: URLSearchParams, eventTypes: readonly string[]): Filters {
  const [status, event, time] = ['status', 'event', 'time'].map((name) => parameters.get(name));
  return {
    status: isStatusChoice(status ?? null) ? (status as StatusChoice) : 'any',
    event: eventTypes.find((type) => type === event) ?? 'any',
    time: isTimeChoice(time ?? null) ? (time as TimeChoice) : 'any',
  };
}

/** What an address says of filters; nothing where they narrow nothing. */
export const parametersOf = (filters: Filters): Record<string, string> =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== 'any'));

export const isNarrowed = (filters: Filters): boolean => Object.keys(parametersOf(filters)).length > 0;

/** Whether a delivery has the status and the event that are looked for. */
export function isLike(
  { status, event }: Filters,
  delivery: { status: DeliveryStatus; eventType: string },
): boolean {
  const statuses: readonly DeliveryStatus[] | undefined = STATUS_CHOICES[status];
  return (
    (statuses === undefined || statuses.includes(delivery.status)) &&
    (event === 'any' || event === delivery.eventType)
  );
}

/**
 * What the API is asked for.
 * @param now milliseconds since the epoch; the same for all pages of a listing, whose cursors hold for one
 * filter
 */
export function queryOf({ status, event, time }: Filters, now: number) {
  const statuses = STATUS_CHOICES[status];
  const ago = TIME_CHOICES[time];
  return {
    ...(statuses === undefined ? {} : { status: statuses.join(',') }),
    ...(event === 'any' ? {} : { eventType: event }),
    ...(ago === undefined ? {} : { from: new Date(now - ago).toISOString() }),
  };
}

/** The list of events of all endpoints that is like a list of deliveries. */
export function eventsLike(parameters: URLSearchParams): string {
  const [status, event, time] = ['status', 'event', 'time'].map((name) => parameters.get(name));
  const outcomes: Record<string, string> = { exhausted: 'failed', pending: 'open', retrying: 'open' };
  const like = { type: event, outcome: status ? (outcomes[status] ?? status) : null, time };
  const given = Object.entries(like).flatMap(([name, value]) => (value ? [[name, value]] : []));
  return given.length === 0 ? '/events' : `/events?${new URLSearchParams(given)}`;
}
