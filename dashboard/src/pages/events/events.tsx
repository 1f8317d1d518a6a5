import { useParams, useSearchParams } from 'wouter';
import { LOGGED_TYPES } from '../../api/event-types.ts';
import { type Endpoint, useEndpoints } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { CopyId } from '../../parts/copy.tsx';
import { Link } from '../../parts/link.tsx';
import { isNoSandbox, NoSandbox } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { t } from '../../text/language.ts';
import { LiveList } from '../live/list.tsx';
import styles from '../live/split.module.css';
import { useSplit } from '../live/split.ts';
import cells from './cells.module.css';
import { NarrowCells, WideCells } from './cells.tsx';
import { useConversation } from './conversation.ts';
import { Detail } from './detail.tsx';
import { EventFilters } from './event-filters.tsx';
import { conversationIn, filtersIn, parametersOf } from './filters.ts';
import { Foot } from './foot.tsx';
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
    <div className={styles.split} data-open={split.isOpen}>
      <div className={styles.listing} ref={split.listed}>
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
        <Foot events={events} isFiltered={isFiltered} conversation={conversation} />
      </div>
      {eventId === undefined ? null : (
        <Detail key={eventId} id={eventId} search={written(search)} heading={split.heading} />
      )}
    </div>
  );
}
