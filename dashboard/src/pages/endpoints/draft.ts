import type { Schema } from '../../api/client.ts';
import type { EventType } from '../../api/event-types.ts';
import type { Endpoint } from '../../api/webhooks.ts';

/** The endpoint that a form describes, as typed. */
export interface EndpointDraft {
  url: string;
  events: readonly EventType[];
  description: string;
  maxPerSecond: string;
}

/** Names of the form's fields, as the API has them. */
export const DRAFT_FIELDS = ['url', 'events', 'description', 'maxPerSecond'] as const;

export const EMPTY_DRAFT: EndpointDraft = { url: '', events: [], description: '', maxPerSecond: '' };

export const draftOf = (
  endpoint: Pick<Endpoint, 'url' | 'events' | 'description' | 'maxPerSecond'>,
): EndpointDraft => ({
  url: endpoint.url,
  events: endpoint.events,
  description: endpoint.description ?? '',
  maxPerSecond: endpoint.maxPerSecond === null ? '' : String(endpoint.maxPerSecond),
});

/** What a registration says: optional settings that are empty are absent. */
export function registrationOf({ url, events, description, maxPerSecond }: EndpointDraft) {
  const {
    description: note,
    maxPerSecond: limit,
    ...rest
  } = changeOf({
    url,
    events,
    description,
    maxPerSecond,
  });
  return {
    ...rest,
    ...(note === null ? {} : { description: note }),
    ...(limit === null ? {} : { maxPerSecond: limit }),
  } satisfies Schema<'RegisterWebhook'>;
}

/** What a change says: optional settings that are empty are removed. */
export const changeOf = ({ url, events, description, maxPerSecond }: EndpointDraft) =>
  ({
    url: url.trim(),
    events: [...events],
    description: description.trim() === '' ? null : description.trim(),
    maxPerSecond: maxPerSecond.trim() === '' ? null : Number(maxPerSecond.trim()),
  }) satisfies Schema<'UpdateWebhook'>;
