import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Environment } from '../../api/client.ts';
import { EVENT_TYPES, type EventType } from '../../api/event-types.ts';
import { PREVIEW_DAYS, useRecentEvents } from '../../api/events.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Button } from '../../parts/button.tsx';
import { Code } from '../../parts/code.tsx';
import { Choices, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Marked } from '../../parts/marked.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Moment } from '../../parts/time.tsx';
import { format, t } from '../../text/language.ts';
import { DRAFT_FIELDS, type EndpointDraft } from './draft.ts';
import { filteredValues, filterOf, type LoggedEvent, previewOf, ROLES, type Selection } from './filter.ts';
import { isLimit } from './limit.ts';

const isEventType = (name: string): name is EventType => EVENT_TYPES.some((type) => type === name);
/** Of code points; the field counts UTF-16 code units, of which one has up to two. */
const MAX_DESCRIPTION = 200;

interface FieldsProps {
  draft: EndpointDraft;
  onChange: (draft: EndpointDraft) => void;
}

/**
 * A dialog with the settings of an endpoint: its URL, its events and what is optional.
 * @param first what it begins with
 * @param saved what the endpoint gets today
 */
export function EndpointDialog({
  first,
  saved,
  isUrlFixed = false,
  onSubmit,
  ...dialog
}: Omit<Parameters<typeof FormDialog>[0], 'fields' | 'children' | 'onSubmit'> & {
  first: EndpointDraft;
  saved?: Selection;
  isUrlFixed?: boolean;
  onSubmit: (draft: EndpointDraft) => void;
}) {
  const { environment } = useEnvironment();
  const [draft, onChange] = useState(first);
  const filter = filterOf(draft);
  return (
    <FormDialog {...dialog} fields={DRAFT_FIELDS} onSubmit={() => onSubmit(draft)}>
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
    </FormDialog>
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

/** What each event type means, with an example, as the API document has them. Loaded when it is opened. */
function EventMeanings() {
  const { data, refetch } = useQuery({
    queryKey: ['event-catalogue'],
    enabled: false,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => (await import('../event-types/catalogue.ts')).ENTRIES,
  });
  return (
    <details onToggle={({ currentTarget }) => void (currentTarget.open && data === undefined && refetch())}>
      <summary>{t.forms.meaning}</summary>
      <div className="stack">
        {data === undefined
          ? null
          : EVENT_TYPES.map((type) => <Meaning key={type} type={type} {...data[type]} />)}
      </div>
    </details>
  );
}

const Meaning = ({
  type,
  description,
  example,
}: {
  type: EventType;
  description: string;
  example: object;
}) => (
  <section>
    <h3>
      <code>{type}</code>
    </h3>
    <p>
      <Marked text={t.eventTypes.translated?.types[type].description ?? description} />
    </p>
    <Code text={JSON.stringify(example, undefined, 2)} label={t.forms.example(type)} />
  </section>
);

/** What settings with a filter would send of the latest events, before they are saved. */
const FilterPreview = ({
  environment,
  next,
  saved,
}: {
  environment: Environment;
  next: Selection;
  saved: Selection | undefined;
}) => (
  <Loaded query={useRecentEvents(environment)} lines={2}>
    {(recent) => <Preview {...recent} next={next} saved={saved} />}
  </Loaded>
);

function Preview({
  events,
  isWhole,
  next,
  saved,
}: {
  events: readonly LoggedEvent[];
  isWhole: boolean;
  next: Selection;
  saved: Selection | undefined;
}) {
  const last = events.at(-1);
  if (last === undefined) return <Notice tone="idle" title={t.filter.noEvents(PREVIEW_DAYS)} />;
  const { sent, types, peak, examples, lost } = previewOf(events, next, saved);
  return (
    <>
      {/* What is heard at each change is only this. */}
      <Notice tone="idle" title={t.filter.sent(sent, format.number(sent))}>
        {lost === undefined ? null : <p>{t.filter.lost(lost, format.number(lost))}</p>}
      </Notice>
      <p className="quiet">
        {isWhole
          ? t.filter.lookedAtAll(events.length, format.number(events.length), PREVIEW_DAYS)
          : t.filter.lookedAt(format.number(events.length), format.short(last.createdAt))}
        {sent === 0 ? null : ` ${t.filter.peak(format.number(peak))}`}
      </p>
      {sent === 0 ? null : (
        <>
          <ul aria-label={t.resend.byType}>
            {types.map(({ key, count }) => (
              <li key={key}>
                {format.number(count)} × <code>{key}</code>
              </li>
            ))}
          </ul>
          <p>{t.filter.examples}</p>
          <ul aria-label={t.filter.examples}>
            {examples.map((event) => (
              <li key={event.id}>
                <code>{[event.type, ...filteredValues(event)].join(' · ')}</code>{' '}
                <span className="quiet">
                  <Moment at={event.createdAt} />
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
