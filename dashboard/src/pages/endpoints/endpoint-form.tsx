import type { ReactNode } from 'react';
import type { Environment } from '../../api/client.ts';
import { EVENT_TYPES, type EventType } from '../../api/event-types.ts';
import { Choices, TextField } from '../../parts/field.tsx';
import { useTexts } from '../../text/language.ts';

export interface EndpointDraft {
  url: string;
  events: readonly EventType[];
}

const isEventType = (name: string): name is EventType => EVENT_TYPES.some((type) => type === name);

/** What an endpoint is: its address and its events. */
export function EndpointFields({
  draft,
  environment,
  onChange,
}: {
  draft: EndpointDraft;
  environment: Environment;
  onChange: (draft: EndpointDraft) => void;
}): ReactNode {
  const t = useTexts();
  return (
    <>
      <TextField
        label={t.endpoints.address}
        hint={environment === 'sandbox' ? t.endpoints.urlHintSandbox : t.endpoints.urlHint}
        type="url"
        name="url"
        isRequired
        isCode
        autoFocus
        placeholder="https://example.com/hooks"
        maxLength={2048}
        value={draft.url}
        onChange={(url) => onChange({ ...draft, url })}
      />
      <Choices
        label={t.endpoints.events}
        hint={t.endpoints.eventsHint}
        isRequired
        name="events"
        choices={EVENT_TYPES.map((type) => ({
          value: type,
          label: <code>{type}</code>,
          hint: t.events[type],
        }))}
        value={draft.events}
        onChange={(events) => onChange({ ...draft, events: events.filter(isEventType) })}
      />
    </>
  );
}
