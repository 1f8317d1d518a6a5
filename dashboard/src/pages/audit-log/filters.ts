import type { AuditAction, AuditActor, AuditQuery } from '../../api/audit-log.ts';
import type { Environment } from '../../api/client.ts';

/** What the log is narrowed to, as the page's address has it. */
export interface Filters {
  environment: Environment;
  /** An action, or `any`. */
  action: string;
  /** A type of actors, the identifier of one actor, or `any`. */
  actor: string;
  time: TimeChoice;
  /** Days of `custom`, as `2026-11-20`; empty where open. */
  from: string;
  to: string;
}

const ANY = 'any';
export const TIME_CHOICES = [ANY, 'today', 'yesterday', 'week', 'month', 'custom'] as const;
type TimeChoice = (typeof TIME_CHOICES)[number];

export const ACTOR_TYPES = [
  'user',
  'api_key',
  'service',
  'operator',
] as const satisfies readonly AuditActor['type'][];
type ActorType = (typeof ACTOR_TYPES)[number];
export const isActorType = (name: string): name is ActorType => ACTOR_TYPES.some((type) => type === name);

const DAY = /^\d{4}-\d{2}-\d{2}$/;
/** Length of an identifier that the API takes. */
const MAX_ID = 255;

/** Reads an address, which may say anything: what is not understood narrows nothing. */
export function filtersIn(parameters: URLSearchParams, actions: readonly string[]): Filters {
  const read = (name: string) => parameters.get(name) ?? '';
  const day = (name: string) => (DAY.test(read(name)) && isDay(read(name)) ? read(name) : '');
  const actor = read('actor');
  return {
    environment: read('environment') === 'sandbox' ? 'sandbox' : 'live',
    action: actions.find((each) => each === read('action')) ?? ANY,
    actor: actor === '' || actor.length > MAX_ID ? ANY : actor,
    time: TIME_CHOICES.find((each) => each === read('time')) ?? ANY,
    from: day('from'),
    to: day('to'),
  };
}

const isDay = (text: string): boolean => !Number.isNaN(Date.parse(`${text}T00:00:00Z`));

/** What an address says of filters; nothing where they narrow nothing. */
export function parametersOf({ environment, from, to, ...rest }: Filters): Record<string, string> {
  const days = rest.time === 'custom' ? { from, to } : {};
  const all = { ...(environment === 'live' ? {} : { environment }), ...rest, ...days };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ANY && value !== ''));
}

/** How many of the fields narrow the log. The days of `custom` are one field. */
export const countNarrowing = ({ action, actor, time }: Filters): number =>
  [action, actor, time].filter((value) => value !== ANY).length;

/**
 * What the API is asked for. Days are those of the reader's time zone.
 * @param now the same for all pages of a listing, whose cursors hold for one query
 */
export function queryOf({ environment, action, actor, time, from, to }: Filters, now: Date): AuditQuery {
  return {
    environment,
    ...(action === ANY ? {} : { action: action as AuditAction }),
    ...(actor === ANY ? {} : isActorType(actor) ? { actorType: actor } : { actorId: actor }),
    ...rangeOf(time, { from, to }, now),
  };
}

function rangeOf(
  time: TimeChoice,
  days: { from: string; to: string },
  now: Date,
): { from?: string; to?: string } {
  const begin = (back: number) => midnight(now, -back).toISOString();
  switch (time) {
    case 'any':
      return {};
    case 'today':
      return { from: begin(0) };
    case 'yesterday':
      return { from: begin(1), to: begin(0) };
    case 'week':
      return { from: begin(6) };
    case 'month':
      return { from: begin(29) };
    case 'custom':
      return {
        ...(days.from === '' ? {} : { from: localDay(days.from).toISOString() }),
        ...(days.to === '' ? {} : { to: midnight(localDay(days.to), 1).toISOString() }),
      };
  }
}

/** The beginning of a day that is so many days from another. Not by hours: some days have 23. */
function midnight(time: Date, days: number): Date {
  return new Date(time.getFullYear(), time.getMonth(), time.getDate() + days);
}

const localDay = (text: string): Date => {
  const [year = 0, month = 1, day = 1] = text.split('-').map(Number);
  return new Date(year, month - 1, day);
};

/** Things of one day in the reader's time zone. */
interface Day<Item> {
  /** Of the first of them, ISO 8601. */
  at: string;
  items: Item[];
}

export function daysOf<Item extends { createdAt: string }>(items: readonly Item[]): Day<Item>[] {
  const days = Map.groupBy(items, ({ createdAt }) => new Date(createdAt).toDateString());
  return [...days.values()].map((ofDay) => ({ at: ofDay[0]?.createdAt ?? '', items: ofDay }));
}

const DAY_MS = 86_400_000;

/** How many days before another a time was: 0 is the same day, 1 the day before. */
export function daysBefore(at: string, now: number): number {
  const [one, other] = [new Date(at), new Date(now)].map((time) =>
    Date.UTC(time.getFullYear(), time.getMonth(), time.getDate()),
  );
  return Math.round(((other ?? 0) - (one ?? 0)) / DAY_MS);
}
