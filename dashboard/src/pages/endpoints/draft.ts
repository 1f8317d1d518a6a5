import type { Schema } from '../../api/client.ts';
import type { EventType } from '../../api/event-types.ts';
import type { Endpoint } from '../../api/webhooks.ts';
import type { EventFilter, Role } from './filter.ts';

/** The endpoint that a form describes, as typed. */
export interface EndpointDraft {
  url: string;
  events: readonly EventType[];
  /** One per line. */
  channelIds: string;
  roles: readonly Role[];
  description: string;
  maxPerSecond: string;
}

/** Names of the form's fields, as the API has them. */
export const DRAFT_FIELDS = [
  ...(['url', 'events', 'filter.channelIds', 'filter.roles', 'description', 'maxPerSecond'] as const),
];

export const EMPTY_DRAFT: EndpointDraft = {
  ...{ url: '', events: [], channelIds: '', roles: [], description: '', maxPerSecond: '' },
};

export const draftOf = (
  endpoint: Pick<Endpoint, 'url' | 'events' | 'filter' | 'description' | 'maxPerSecond'>,
): EndpointDraft => ({
  url: endpoint.url,
  events: endpoint.events,
  channelIds: endpoint.filter?.channelIds?.join('\n') ?? '',
  roles: endpoint.filter?.roles ?? [],
  description: endpoint.description ?? '',
  maxPerSecond: endpoint.maxPerSecond === null ? '' : String(endpoint.maxPerSecond),
});

/** What a registration says: optional settings that are empty are absent. */
export function registrationOf(draft: EndpointDraft) {
  const { filter, description, maxPerSecond, ...rest } = changeOf(draft);
  return {
    ...rest,
    ...(filter === null ? {} : { filter }),
    ...(description === null ? {} : { description }),
    ...(maxPerSecond === null ? {} : { maxPerSecond }),
  } satisfies Schema<'RegisterWebhook'>;
}

/** What a change says: optional settings that are empty are removed. */
export const changeOf = ({ url, events, description, maxPerSecond, ...filter }: EndpointDraft) =>
  ({
    url: url.trim(),
    events: [...events],
    filter: filterOf(filter),
    description: description.trim() === '' ? null : description.trim(),
    maxPerSecond: maxPerSecond.trim() === '' ? null : Number(maxPerSecond.trim()),
  }) satisfies Schema<'UpdateWebhook'>;

/** The filter as the API has it; null without one. */
export function filterOf({ channelIds, roles }: Pick<EndpointDraft, 'channelIds' | 'roles'>) {
  const channels = channelIds.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
  if (channels.length === 0 && roles.length === 0) return null;
  return {
    ...(channels.length > 0 && { channelIds: channels }),
    ...(roles.length > 0 && { roles: [...roles] }),
  } satisfies EventFilter;
}
