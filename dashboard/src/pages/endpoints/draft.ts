import type { Schema } from '../../api/client.ts';
import { EVENT_TYPES, type EventType } from '../../api/event-types.ts';
import type { Endpoint } from '../../api/webhooks.ts';
import { type FilterDraft, filterOf } from './filter.ts';

/** The endpoint that a form describes, as typed. */
export interface EndpointDraft extends FilterDraft {
  url: string;
  events: readonly EventType[];
  description: string;
  maxPerSecond: string;
}

export const DRAFT_FIELDS = [
  ...(['url', 'events', 'filter.channelIds', 'filter.roles', 'description', 'maxPerSecond'] as const),
];

export const EMPTY_DRAFT: EndpointDraft = {
  // All types: who wants fewer sees what there is.
  ...{ url: '', events: EVENT_TYPES, channelIds: '', roles: [], description: '', maxPerSecond: '' },
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
