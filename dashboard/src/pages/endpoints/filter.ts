import type { components } from '../../api/schema.gen.ts';

type Schemas = components['schemas'];
type EventFilter = Schemas['EventFilter'];
type Role = NonNullable<EventFilter['roles']>[number];
export const ROLES = ['user', 'assistant', 'agent', 'system'] as const satisfies readonly Role[];

/** A filter as typed. */
export interface FilterDraft {
  /** One per line. */
  channelIds: string;
  roles: readonly Role[];
}

/** The filter as the API has it; null without one. */
export function filterOf({ channelIds, roles }: FilterDraft) {
  const channels = channelIds.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
  if (channels.length === 0 && roles.length === 0) return null;
  return {
    ...(channels.length > 0 && { channelIds: channels }),
    ...(roles.length > 0 && { roles: [...roles] }),
  } satisfies EventFilter;
}

/** What decides which events an endpoint gets. */
export interface Selection {
  events: readonly string[];
  filter: EventFilter | null;
}

/** An event of the log. */
export type LoggedEvent = Pick<Schemas['Event'], 'id' | 'type' | 'createdAt' | 'data' | 'example'>;

/** The lists of a filter, each with the field of an event's data that it is for. */
const FIELDS = { channelIds: 'channelId', roles: 'role' } as const;
const LISTS = Object.keys(FIELDS) as (keyof typeof FIELDS)[];

/** The values of an event that filters ask for. */
export const filteredValues = ({ data }: Pick<LoggedEvent, 'data'>): string[] =>
  Object.values(FIELDS).flatMap((field) => (typeof data[field] === 'string' ? [data[field]] : []));

/** Whether an endpoint gets an event, as the service decides. An example is for one endpoint. */
export const isSent = (
  { type, data, example }: Pick<LoggedEvent, 'type' | 'data' | 'example'>,
  { events, filter }: Selection,
): boolean =>
  example !== true &&
  events.includes(type) &&
  LISTS.every((list) => {
    const value = data[FIELDS[list]];
    const wanted: readonly string[] | undefined = filter?.[list];
    return typeof value !== 'string' || wanted === undefined || wanted.includes(value);
  });

const EXAMPLES = 5;
const SECOND = 'YYYY-MM-DDTHH:MM:SS'.length;

/**
 * What an endpoint would get of some events.
 * @param events newest first
 * @param saved what it gets today; absent for a new one
 */
export function previewOf(events: readonly LoggedEvent[], next: Selection, saved?: Selection) {
  const sent = events.filter((event) => isSent(event, next));
  return {
    sent: sent.length,
    types: countBy(sent, ({ type }) => type),
    peak: countBy(sent, ({ createdAt }) => createdAt.slice(0, SECOND))[0]?.count ?? 0,
    examples: sent.slice(0, EXAMPLES),
    lost: saved && events.filter((event) => isSent(event, saved) && !isSent(event, next)).length,
  };
}

/** The most frequent first. */
const countBy = (events: readonly LoggedEvent[], keyOf: (event: LoggedEvent) => string) =>
  [...Map.groupBy(events, keyOf)]
    .map(([key, members]) => ({ key, count: members.length }))
    .sort((one, other) => other.count - one.count);
