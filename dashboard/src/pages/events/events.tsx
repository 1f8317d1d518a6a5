import { useParams, useSearchParams } from 'wouter';
import { LOGGED_TYPES } from '../../api/event-types.ts';
import { type Endpoint, useEndpoints } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Button } from '../../parts/button.tsx';
import { Choose } from '../../parts/choose.tsx';
import { CopyId } from '../../parts/copy.tsx';
import { Filters as FilterRow } from '../../parts/filters.tsx';
import { Link } from '../../parts/link.tsx';
import { isNoSandbox, NoSandbox } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { format, t } from '../../text/language.ts';
import { TimeField } from '../deliveries/time-field.tsx';
import { endpointOptions } from '../endpoint-options.ts';
import { LiveList } from '../live/list.tsx';
import layout from '../live/split.module.css';
import { ListFoot, useSplit } from '../live/split.tsx';
import cells from './cells.module.css';
import { NarrowCells, WideCells } from './cells.tsx';
import { useConversation } from './conversation.ts';
import { Detail } from './detail.tsx';
import styles from './events.module.css';
import { conversationIn, type Filters, filtersIn, OUTCOME_CHOICES, parametersOf } from './filters.ts';
import { type Events as EventList, useEvents } from './use-events.ts';

/** What happened, and whether it arrived: all events, or those of one conversation. */
export default function Events() {
  const { environment } = useEnvironment();
  const [search] = useSearchParams();
  const { data: endpoints, error } = useEndpoints(environment);
  const conversation = conversationIn(search);
  if (isNoSandbox(error)) return <NoSandbox title={t.eventLog.title} />;
  return conversation === undefined ? (
    <AllEvents endpoints={endpoints ?? []} />
  ) : (
    <OfConversation key={conversation} id={conversation} />
  );
}

const written = (search: URLSearchParams): string => (search.size === 0 ? '' : `?${search}`);

function AllEvents({ endpoints }: { endpoints: readonly Endpoint[] }) {
  const { environment } = useEnvironment();
  const [search, setSearch] = useSearchParams();
  const { eventId } = useParams<{ eventId?: string }>();
  const filters = filtersIn(search, LOGGED_TYPES);
  const split = useSplit(eventId, `/events${written(search)}`);
  const events = useEvents(environment, filters, split.view);
  return (
    <Page title={t.eventLog.title} about={t.eventLog.about}>
      {split.isCovered ? null : (
        <EventFilters
          endpoints={endpoints}
          filters={filters}
          onFilters={(changed) => setSearch(parametersOf(changed), { replace: true })}
        />
      )}
      <Listing events={events} split={split} isFiltered={Object.keys(parametersOf(filters)).length > 0} />
    </Page>
  );
}

function OfConversation({ id }: { id: string }) {
  const { environment } = useEnvironment();
  const { eventId } = useParams<{ eventId?: string }>();
  const split = useSplit(eventId, `/events?conversation=${id}`);
  const events = useConversation(environment, id);
  return (
    <Page title={t.eventLog.ofConversation} about={t.eventLog.ofConversationAbout}>
      {split.isCovered ? null : (
        <p className="row">
          <CopyId id={id} what={t.eventLog.conversation} />
          <Link to="/events">{t.eventLog.all}</Link>
        </p>
      )}
      <Listing events={events} split={split} isFiltered conversation={id} />
    </Page>
  );
}

function Listing({
  events,
  split,
  isFiltered,
  conversation,
}: {
  events: EventList;
  split: ReturnType<typeof useSplit>;
  isFiltered: boolean;
  conversation?: string;
}) {
  const { eventId } = useParams<{ eventId?: string }>();
  const [search] = useSearchParams();
  const { isNarrow } = split;
  return (
    <div className={layout.split} data-open={split.isOpen}>
      <div className={layout.listing} ref={split.listed}>
        <LiveList
          live={events}
          texts={t.eventLog}
          to={({ id }) => `/events/${id}${written(search)}`}
          shown={eventId}
          isNarrow={isNarrow}
          isPaused={events.pausedAt !== undefined}
          heads={[t.eventLog.type, t.eventLog.concerns, t.deliveries.title, t.eventLog.happened]}
          look={isNarrow ? cells.narrow : cells.wide}
          Cells={isNarrow ? NarrowCells : WideCells}
          handle={split.list}
        />
        <ListFoot
          live={events}
          searching={events.rows.length === 0 || isFiltered ? t.eventLog.searching : t.loading}
          end={endOf(isFiltered, conversation)}
          none={[t.eventLog.none, noneOf(isFiltered, conversation)]}
          paused={
            events.pausedAt === undefined ? null : (
              <Paused at={events.pausedAt} conversation={conversation} onMore={events.loadMore} />
            )
          }
        />
      </div>
      {eventId === undefined ? null : (
        <Detail key={eventId} id={eventId} search={written(search)} heading={split.heading} />
      )}
    </div>
  );
}

/** How far a search came, and whether to go on. */
const Paused = ({
  at,
  conversation,
  onMore,
}: {
  at: string;
  conversation: string | undefined;
  onMore: () => void;
}) => (
  <div className={styles.paused} role="status">
    <p>
      {conversation === undefined
        ? t.eventLog.searchedBack(format.short(at))
        : t.eventLog.searchedUntil(format.short(at))}
    </p>
    <Button onPress={onMore}>{t.eventLog.searchOn}</Button>
  </div>
);

function endOf(isFiltered: boolean, conversation: string | undefined): string {
  if (conversation !== undefined) return t.eventLog.endOfConversation;
  return isFiltered ? t.deliveries.endFiltered : t.deliveries.end;
}

function noneOf(isFiltered: boolean, conversation: string | undefined): string {
  if (conversation !== undefined) return t.eventLog.noneOfConversation;
  return isFiltered ? t.eventLog.noneFiltered : t.eventLog.noneAbout;
}

function EventFilters({
  endpoints,
  filters,
  onFilters,
}: {
  endpoints: readonly Endpoint[];
  filters: Filters;
  onFilters: (filters: Filters) => void;
}) {
  // A deleted endpoint may be in the address.
  const known = endpoints.some(({ id }) => id === filters.endpoint) || filters.endpoint === 'any';
  return (
    <FilterRow count={Object.keys(parametersOf(filters)).length}>
      <Choose
        label={t.eventLog.type}
        options={['any', ...LOGGED_TYPES].map((value) => ({
          value,
          label: value === 'any' ? t.eventLog.anyType : value,
        }))}
        value={filters.type}
        onChange={(type) => onFilters({ ...filters, type })}
      />
      <Choose
        label={t.deliveries.endpoint}
        options={[
          { value: 'any', label: t.eventLog.anyEndpoint },
          ...(known ? [] : [{ value: filters.endpoint, label: filters.endpoint }]),
          ...endpointOptions(endpoints, t.status),
        ]}
        value={filters.endpoint}
        onChange={(endpoint) => onFilters({ ...filters, endpoint })}
      />
      <Choose
        label={t.eventLog.outcome}
        options={OUTCOME_CHOICES.map((value) => ({ value, label: t.eventLog.outcomes[value] }))}
        value={filters.outcome}
        onChange={(outcome) => onFilters({ ...filters, outcome })}
      />
      <TimeField
        value={filters.time}
        between={filters}
        onChange={(time) => onFilters({ ...filters, time, from: 'any', to: 'any' })}
      />
    </FilterRow>
  );
}
