import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Redirect, useLocation, useParams, useSearchParams } from 'wouter';
import { DELIVERED_TYPES } from '../../api/event-types.ts';
import { isChannelId } from '../../api/receivers.ts';
import { type Delivery, type Receiver, useEndpoint, useEndpoints } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button } from '../../parts/button.tsx';
import { Choose } from '../../parts/choose.tsx';
import { Filters as FilterRow } from '../../parts/filters.tsx';
import { Link } from '../../parts/link.tsx';
import { isNoSandbox, LoadedPage, NoSandbox } from '../../parts/loaded.tsx';
import { Empty } from '../../parts/notice.tsx';
import { Page } from '../../parts/page.tsx';
import { PlainAgo } from '../../parts/time.tsx';
import { errorText } from '../../text/error-text.ts';
import { t } from '../../text/language.ts';
import { endpointOptions } from '../endpoint-options.ts';
import { LiveList } from '../live/list.tsx';
import styles from '../live/split.module.css';
import { ListFoot, useSplit } from '../live/split.tsx';
import { lookUpPorts } from '../search/api.ts';
import { isId, prefixOf } from '../search/ids.ts';
import { lookUp } from '../search/look-up.ts';
import { SendAgain } from './bulk.tsx';
import cells from './cells.module.css';
import { Detail } from './detail.tsx';
import {
  eventsLike,
  type Filters,
  filtersIn,
  isNarrowed,
  parametersOf,
  STATUS_CHOICES,
  type StatusChoice,
} from './filters.ts';
import { DeliveryStatus } from './recovered-by.tsx';
import { TimeField } from './time-field.tsx';
import { useDeliveries } from './use-deliveries.ts';

export default function Deliveries() {
  const { environment, to } = useEnvironment();
  const { endpointId } = useParams<{ endpointId?: string }>();
  const query = useEndpoints(environment);
  const { data: endpoints } = query;
  const [search] = useSearchParams();
  if (isNoSandbox(query.error)) return <NoSandbox title={t.deliveries.title} />;
  if (endpointId !== undefined && isDeliveryId(endpointId)) return <DeliveryById id={endpointId} />;
  // Those of all endpoints are listed by their events.
  if (endpointId === undefined) return <Redirect to={to(eventsLike(search))} replace />;
  if (isChannelId(endpointId) && endpoints !== undefined)
    return <OfChannel key={endpointId} id={endpointId} endpoints={endpoints} />;
  const endpoint = endpoints?.find(({ id }) => id === endpointId);
  if (endpoint !== undefined && endpoints !== undefined)
    return <OfEndpoint key={endpoint.id} endpoint={endpoint} endpoints={endpoints} />;
  return (
    <LoadedPage title={t.deliveries.title} about={t.deliveries.about} query={query}>
      {() => (
        <Empty title={t.notFound.title}>
          <p>{t.notFound.about}</p>
          <Link to="/endpoints">{t.endpoints.title}</Link>
        </Empty>
      )}
    </LoadedPage>
  );
}

const isDeliveryId = (id: string): boolean => isId(id) && prefixOf(id) === 'dlv';

const written = (search: URLSearchParams): string => (search.size === 0 ? '' : `?${search}`);

/** Those of a channel, which is among the endpoints while it is shown. */
function OfChannel({ id, endpoints }: { id: string; endpoints: readonly Receiver[] }) {
  const { environment } = useEnvironment();
  const query = useEndpoint(environment, id);
  const { data: channel } = query;
  if (channel !== undefined) return <OfEndpoint endpoint={channel} endpoints={[channel, ...endpoints]} />;
  return (
    <LoadedPage title={t.deliveries.title} about={t.deliveries.about} query={query}>
      {() => null}
    </LoadedPage>
  );
}

function OfEndpoint({ endpoint, endpoints }: { endpoint: Receiver; endpoints: readonly Receiver[] }) {
  const isAdmin = useIsAdmin();
  const { environment, to } = useEnvironment();
  const [, navigate] = useLocation();
  const { deliveryId } = useParams<{ deliveryId?: string }>();
  const [search, setSearch] = useSearchParams();
  const [isSending, setSending] = useState(false);
  const filters = filtersIn(search, DELIVERED_TYPES);
  const isFiltered = isNarrowed(filters);
  const { listed, list, heading, view, isOpen, isCovered, isNarrow } = useSplit(
    deliveryId,
    `/deliveries/${endpoint.id}${written(search)}`,
  );
  const deliveries = useDeliveries(environment, endpoint.id, filters, view);

  return (
    <Page
      title={t.deliveries.title}
      about={t.deliveries.about}
      actions={
        isAdmin ? (
          <Button onPress={() => setSending(true)}>{t.bulk.title}</Button>
        ) : (
          <span className="quiet">{t.admins}</span>
        )
      }
    >
      {isCovered ? null : (
        <FilterFields
          endpoint={endpoint}
          endpoints={endpoints}
          filters={filters}
          onEndpoint={(id) =>
            navigate(to(id === ANY ? eventsLike(search) : `/deliveries/${id}${written(search)}`))
          }
          onFilters={(changed) => setSearch(parametersOf(changed), { replace: true })}
        />
      )}
      <div className={styles.split} data-open={isOpen}>
        <div className={styles.listing} ref={listed}>
          <LiveList
            live={deliveries}
            texts={t.deliveries}
            to={(row) => `/deliveries/${row.webhookId}/${row.id}${written(search)}`}
            shown={deliveryId}
            isNarrow={isNarrow}
            heads={[
              ...[
                t.common.status,
                t.eventLog.one,
                t.common.lastError,
                t.deliveries.attemptLog,
                t.common.created,
              ],
            ]}
            look={isNarrow ? cells.narrow : cells.wide}
            Cells={Cells}
            handle={list}
          />
          <ListFoot
            live={deliveries}
            searching={deliveries.rows.length === 0 ? t.deliveries.searching : t.loading}
            end={isFiltered ? t.deliveries.endFiltered : t.deliveries.end}
            none={[t.deliveries.none, isFiltered ? t.deliveries.noneFiltered : t.deliveries.noneAbout]}
          />
        </div>
        {deliveryId === undefined ? null : (
          <Detail
            key={deliveryId}
            webhookId={endpoint.id}
            id={deliveryId}
            search={written(search)}
            heading={heading}
          />
        )}
      </div>
      {isSending ? (
        <SendAgain endpoint={endpoint} filters={filters} onClose={() => setSending(false)} />
      ) : null}
    </Page>
  );
}

/** A delivery of which the address does not say the endpoint. */
function DeliveryById({ id }: { id: string }) {
  const { environment, to } = useEnvironment();
  const query = useQuery({
    queryKey: [environment, 'deliveries', id],
    queryFn: ({ signal }) => lookUp(id, lookUpPorts([environment], false, signal)),
  });
  return (
    <LoadedPage title={t.deliveries.title} about={t.deliveries.about} query={query}>
      {(result) =>
        result.kind === 'found' ? (
          <Redirect to={to(result.path)} replace />
        ) : (
          <Empty title={t.deliveries.gone}>
            <p>{result.note === 'expired' ? t.search.expired : t.search.deliveries}</p>
            <Link to="/events">{t.eventLog.all}</Link>
          </Empty>
        )
      }
    </LoadedPage>
  );
}

const ANY = 'any';

function FilterFields({
  endpoint,
  endpoints,
  filters,
  onEndpoint,
  onFilters,
}: {
  endpoint: Receiver;
  endpoints: readonly Receiver[];
  filters: Filters;
  onEndpoint: (id: string) => void;
  onFilters: (filters: Filters) => void;
}) {
  const statuses: Record<StatusChoice, string> = {
    any: t.deliveries.anyStatus,
    failed: t.eventLog.outcomes.failed,
    open: t.common.open,
    ...t.status,
  };
  return (
    <FilterRow count={Object.values(filters).filter((value) => value !== 'any').length}>
      <Choose
        label={t.deliveries.endpoint}
        options={[{ value: ANY, label: t.eventLog.anyEndpoint }, ...endpointOptions(endpoints, t.status)]}
        value={endpoint.id}
        onChange={onEndpoint}
      />
      <Choose
        label={t.common.status}
        options={(Object.keys(STATUS_CHOICES) as StatusChoice[]).map((value) => ({
          value,
          label: statuses[value],
        }))}
        value={filters.status}
        onChange={(status) => onFilters({ ...filters, status })}
      />
      <Choose
        label={t.eventLog.one}
        options={['any', ...DELIVERED_TYPES].map((value) => ({
          value,
          label: value === 'any' ? t.deliveries.anyEvent : value,
        }))}
        value={filters.event}
        onChange={(event) => onFilters({ ...filters, event })}
      />
      <TimeField value={filters.time} onChange={(time) => onFilters({ ...filters, time })} />
    </FilterRow>
  );
}

function Cells({ row }: { row: Delivery }) {
  // In few characters: there is little room.
  const why = ({ status, lastResponseStatus, terminalReason }: Delivery) => {
    if (status === 'skipped' && terminalReason !== null) return t.reason[terminalReason];
    return lastResponseStatus === null ? errorText(row) : t.deliveries.answered(lastResponseStatus);
  };
  return (
    <>
      <span className={cells.status}>
        <DeliveryStatus status={row.status} />
      </span>
      <span className={`${cells.cell} ${cells.type}`}>{row.eventType}</span>
      <span className={`${cells.cell} ${cells.detail}`}>{row.status === 'succeeded' ? '' : why(row)}</span>
      <span className={`${cells.cell} ${cells.attempts}`}>{t.deliveries.attempts(row.attempts)}</span>
      <span className={`${cells.cell} ${cells.time}`}>
        <PlainAgo at={row.createdAt} />
      </span>
    </>
  );
}
