import type { ReactNode } from 'react';
import type { Environment } from '../../api/client.ts';
import { EVENT_TYPES, type EventType } from '../../api/event-types.ts';
import { Button } from '../../parts/button.tsx';
import { Choices, TextField } from '../../parts/field.tsx';
import { t } from '../../text/language.ts';
import type { EndpointDraft } from './draft.ts';
import { EventMeanings } from './event-meanings.tsx';
import { filterOf, ROLES, type Selection } from './filter.ts';
import { FilterPreview } from './filter-preview.tsx';
import { isLimit } from './limit.ts';

const isEventType = (name: string): name is EventType => EVENT_TYPES.some((type) => type === name);
/** Of code points; the field counts UTF-16 code units, of which one has up to two. */
const MAX_DESCRIPTION = 200;

interface FieldsProps {
  draft: EndpointDraft;
  onChange: (draft: EndpointDraft) => void;
}

/** What an endpoint is: its URL, its events and what is optional. @param saved what it gets today */
export function EndpointFields({
  draft,
  environment,
  saved,
  isUrlFixed = false,
  onChange,
}: FieldsProps & { environment: Environment; saved?: Selection; isUrlFixed?: boolean }): ReactNode {
  const filter = filterOf(draft);
  return (
    <>
      <TextField
        label={t.endpoints.address}
        hint={
          isUrlFixed
            ? t.recover.register.urlHint
            : environment === 'sandbox'
              ? t.endpoints.urlHintSandbox
              : t.endpoints.urlHint
        }
        isReadOnly={isUrlFixed}
        type="url"
        name="url"
        isRequired
        isCode
        autoFocus
        placeholder="https://example.com/hooks"
        maxLength={2048}
        value={draft.url}
        onChange={(url) => onChange({ ...draft, url })}
        validate={(url) => (/^\s*https:/i.test(url) ? null : t.forms.faults.url_scheme?.(0))}
      />
      <Choices
        label={t.eventTypes.title}
        hint={t.endpoints.eventsHint}
        isRequired
        name="events"
        actions={<AllEvents draft={draft} onChange={onChange} />}
        choices={EVENT_TYPES.map((type) => ({
          value: type,
          label: <code>{type}</code>,
          hint: t.events[type],
        }))}
        value={draft.events}
        onChange={(events) => onChange({ ...draft, events: events.filter(isEventType) })}
      />
      <EventMeanings />
      <FilterFields draft={draft} onChange={onChange} />
      {filter === null && !saved?.filter ? null : (
        <FilterPreview environment={environment} next={{ events: draft.events, filter }} saved={saved} />
      )}
      <OptionalFields draft={draft} onChange={onChange} />
    </>
  );
}

function AllEvents({ draft, onChange }: FieldsProps) {
  const isAll = EVENT_TYPES.every((type) => draft.events.includes(type));
  return (
    <div>
      <Button look="plain" onPress={() => onChange({ ...draft, events: isAll ? [] : EVENT_TYPES })}>
        {isAll ? t.forms.noneOfThem : t.forms.all}
      </Button>
    </div>
  );
}

const FilterFields = ({ draft, onChange }: FieldsProps) => (
  <>
    <TextField
      label={t.channels.title}
      hint={t.filter.channelIdsHint}
      name="filter.channelIds"
      isCode
      isMultiline
      value={draft.channelIds}
      onChange={(channelIds) => onChange({ ...draft, channelIds })}
    />
    <Choices
      label={t.filter.roles}
      hint={t.filter.rolesHint}
      name="filter.roles"
      choices={ROLES.map((role) => ({ value: role, label: <code>{role}</code> }))}
      value={draft.roles}
      onChange={(chosen) => onChange({ ...draft, roles: ROLES.filter((role) => chosen.includes(role)) })}
    />
  </>
);

const OptionalFields = ({ draft, onChange }: FieldsProps) => (
  <>
    <TextField
      label={t.common.description}
      hint={t.forms.descriptionHint}
      name="description"
      maxLength={2 * MAX_DESCRIPTION}
      value={draft.description}
      onChange={(description) => onChange({ ...draft, description })}
    />
    <TextField
      label={t.forms.maxPerSecond}
      hint={t.forms.maxPerSecondHint}
      name="maxPerSecond"
      inputMode="numeric"
      value={draft.maxPerSecond}
      onChange={(maxPerSecond) => onChange({ ...draft, maxPerSecond })}
      validate={(given) => (isLimit(given) ? null : t.forms.maxPerSecondInvalid)}
    />
  </>
);
