import { useState } from 'react';
import { Redirect, useLocation, useParams, useSearchParams } from 'wouter';
import { DELIVERED_TYPES } from '../../api/event-types.ts';
import { isChannelId } from '../../api/receivers.ts';
import { type Receiver, useEndpoint, useEndpoints } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button } from '../../parts/button.tsx';
import { Link } from '../../parts/link.tsx';
import { Empty, Failure, Loading } from '../../parts/notice.tsx';
import { Page } from '../../parts/page.tsx';
import { useTexts } from '../../text/language.ts';
import { LiveList } from '../live/list.tsx';
import styles from '../live/split.module.css';
import { useSplit } from '../live/split.ts';
import { isNoSandbox, NoSandbox } from '../no-sandbox.tsx';
import { isId, prefixOf } from '../search/ids.ts';
import { SendAgain } from './bulk.tsx';
import { DeliveryById } from './by-id.tsx';
import cells from './cells.module.css';
import { Cells } from './cells.tsx';
import { Detail } from './detail.tsx';
import { ANY, FilterFields } from './filter-fields.tsx';
import { eventsLike, filtersIn, isNarrowed, parametersOf } from './filters.ts';
import { useDeliveries } from './use-deliveries.ts';

/** Deliveries of an endpoint. */
export default function Deliveries() {
  const t = useTexts();
  const { environment, to } = useEnvironment();
  const { endpointId } = useParams<{ endpointId?: string }>();
  const { data: endpoints, error, refetch } = useEndpoints(environment);
  const [search] = useSearchParams();
  if (isNoSandbox(error)) return <NoSandbox title={t.deliveries.title} />;
  if (endpointId !== undefined && isDeliveryId(endpointId)) return <DeliveryById id={endpointId} />;
  if (endpointId !== undefined && isChannelId(endpointId) && endpoints !== undefined)
    return <OfChannel key={endpointId} id={endpointId} endpoints={endpoints} />;
  const endpoint = endpoints?.find(({ id }) => id === endpointId);
  // Those of all endpoints are listed by their events.
  if (endpointId === undefined) return <Redirect to={to(eventsLike(search))} replace />;
  if (endpoint !== undefined && endpoints !== undefined)
    return <OfEndpoint key={endpoint.id} endpoint={endpoint} endpoints={endpoints} />;
  return (
    <Page title={t.deliveries.title} about={t.deliveries.about}>
      {error ? <Failure title={t.failure.loading} error={error} onRetry={() => void refetch()} /> : null}
      {endpoints === undefined && !error ? <Loading /> : null}
      {endpoints === undefined ? null : (
        <Empty title={t.notFound.title}>
          <p>{t.notFound.about}</p>
          <Link to="/endpoints">{t.endpoints.title}</Link>
        </Empty>
      )}
    </Page>
  );
}

const isDeliveryId = (id: string): boolean => isId(id) && prefixOf(id) === 'dlv';

const written = (search: URLSearchParams): string => (search.size === 0 ? '' : `?${search}`);

/** Those of a channel, which is among the endpoints while it is shown. */
function OfChannel({ id, endpoints }: { id: string; endpoints: readonly Receiver[] }) {
  const t = useTexts();
  const { environment } = useEnvironment();
  const { data: channel, error, refetch } = useEndpoint(environment, id);
  if (channel !== undefined) return <OfEndpoint endpoint={channel} endpoints={[channel, ...endpoints]} />;
  return (
    <Page title={t.deliveries.title} about={t.deliveries.about}>
      {error ? (
        <Failure title={t.failure.loading} error={error} onRetry={() => void refetch()} />
      ) : (
        <Loading />
      )}
    </Page>
  );
}

function OfEndpoint({ endpoint, endpoints }: { endpoint: Receiver; endpoints: readonly Receiver[] }) {
  const t = useTexts();
  const isAdmin = useIsAdmin();
  const { environment, to } = useEnvironment();
  const [, navigate] = useLocation();
  const { deliveryId } = useParams<{ deliveryId?: string }>();
  const [search, setSearch] = useSearchParams();
  const [isSending, setSending] = useState(false);
  const filters = filtersIn(search, DELIVERED_TYPES);
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
          <Button onPress={() => setSending(true)}>{t.deliveries.bulk}</Button>
        ) : (
          <span className="quiet">{t.adminsChange}</span>
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
                t.deliveries.status,
                t.deliveries.event,
                t.deliveries.lastError,
                t.deliveries.attemptLog,
                t.deliveries.created,
              ],
            ]}
            look={isNarrow ? cells.narrow : cells.wide}
            Cells={Cells}
            handle={list}
          />
          <Foot deliveries={deliveries} isFiltered={isNarrowed(filters)} />
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

/** What is below the list: what is being loaded, what went wrong, or that there is no more. */
function Foot({
  deliveries,
  isFiltered,
}: {
  deliveries: ReturnType<typeof useDeliveries>;
  isFiltered: boolean;
}) {
  const t = useTexts();
  const { rows, next, error, isLoading, loadMore, reload } = deliveries;
  if (error)
    return (
      <Failure title={t.failure.loading} error={error} onRetry={rows.length === 0 ? reload : loadMore} />
    );
  if (rows.length === 0 && next === null)
    return (
      <Empty title={t.deliveries.none}>
        <p>{isFiltered ? t.deliveries.noneFiltered : t.deliveries.noneAbout}</p>
      </Empty>
    );
  if (next === undefined) return <Loading />;
  if (isLoading)
    return (
      <p className={styles.foot} role="status">
        {rows.length === 0 ? t.deliveries.searching : t.loading}
      </p>
    );
  return next === null ? (
    <p className={styles.foot}>{isFiltered ? t.deliveries.endFiltered : t.deliveries.end}</p>
  ) : null;
}
