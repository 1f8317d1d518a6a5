import { type RefObject, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { Redirect, useLocation, useParams, useSearchParams } from 'wouter';
import { DELIVERED_TYPES } from '../../api/event-types.ts';
import { type Endpoint, useEndpoints } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button } from '../../parts/button.tsx';
import { Link } from '../../parts/link.tsx';
import { Empty, Failure, Loading } from '../../parts/notice.tsx';
import { Page } from '../../parts/page.tsx';
import { useTexts } from '../../text/language.ts';
import { isNoSandbox, NoSandbox } from '../no-sandbox.tsx';
import { SendAgain } from './bulk.tsx';
import styles from './deliveries.module.css';
import { Detail } from './detail.tsx';
import { FilterFields } from './filter-fields.tsx';
import { type Filters, filtersIn, isNarrowed, parametersOf } from './filters.ts';
import { DeliveryList, type ListHandle } from './list.tsx';
import { useDeliveries } from './use-deliveries.ts';

/** Deliveries of an endpoint: of the one in the address, else of the newest. */
export default function Deliveries() {
  const t = useTexts();
  const { environment, to } = useEnvironment();
  const { endpointId } = useParams<{ endpointId?: string }>();
  const { data: endpoints, error, refetch } = useEndpoints(environment);
  const [search] = useSearchParams();
  if (isNoSandbox(error)) return <NoSandbox title={t.deliveries.title} />;
  const endpoint = endpoints?.find(({ id }) => id === endpointId);
  const first = endpoints?.[0];
  if (endpointId === undefined && first !== undefined)
    return <Redirect to={`${to(`/deliveries/${first.id}`)}${written(search)}`} replace />;
  if (endpoint !== undefined && endpoints !== undefined)
    return <OfEndpoint key={endpoint.id} endpoint={endpoint} endpoints={endpoints} />;
  return (
    <Page title={t.deliveries.title} about={t.deliveries.about}>
      {error ? <Failure title={t.failure.loading} error={error} onRetry={() => void refetch()} /> : null}
      {endpoints === undefined && !error ? <Loading /> : null}
      {endpoints === undefined ? null : (
        <Empty title={endpoints.length === 0 ? t.overview.emptyTitle : t.notFound.title}>
          <p>{endpoints.length === 0 ? t.overview.emptyAbout : t.notFound.about}</p>
          <Link to="/endpoints">{t.endpoints.title}</Link>
        </Empty>
      )}
    </Page>
  );
}

const written = (search: URLSearchParams): string => (search.size === 0 ? '' : `?${search}`);

function OfEndpoint({ endpoint, endpoints }: { endpoint: Endpoint; endpoints: readonly Endpoint[] }) {
  const t = useTexts();
  const isAdmin = useIsAdmin();
  const { environment, to } = useEnvironment();
  const [, navigate] = useLocation();
  const { deliveryId } = useParams<{ deliveryId?: string }>();
  const [search, setSearch] = useSearchParams();
  const [isSending, setSending] = useState(false);
  const filters = filtersIn(search, DELIVERED_TYPES);
  const listed = useRef<HTMLDivElement>(null);
  const list = useRef<ListHandle>(null);
  const isOpen = deliveryId !== undefined;
  const isSplit = useMedia('(min-width: 1101px)');
  const isSmall = useMedia('(max-width: 860px)');
  const isCovered = isOpen && !isSplit;
  const deliveries = useDeliveries(environment, endpoint.id, useStable(filters), {
    // A covered list does not change, so that the user finds the place again.
    isAtTop: () => !isCovered && window.scrollY <= (listed.current?.offsetTop ?? 0) + 40,
    inView: () => (isCovered ? [] : (list.current?.inView() ?? [])),
  });
  useScrollKept(isCovered);
  const heading = useFocusMoved(deliveryId, list);

  return (
    <Page
      title={t.deliveries.title}
      about={t.deliveries.about}
      actions={isAdmin ? <Button onPress={() => setSending(true)}>{t.deliveries.bulk}</Button> : undefined}
    >
      {isCovered ? null : (
        <FilterFields
          endpoint={endpoint}
          endpoints={endpoints}
          filters={filters}
          onEndpoint={(id) => navigate(`${to(`/deliveries/${id}`)}${written(search)}`)}
          onFilters={(changed) => setSearch(parametersOf(changed), { replace: true })}
        />
      )}
      <div className={styles.split} data-open={isOpen}>
        <div className={styles.listing} ref={listed}>
          <DeliveryList
            deliveries={deliveries}
            search={written(search)}
            shown={deliveryId}
            isNarrow={isSmall || isOpen}
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

const useMedia = (condition: string): boolean =>
  useSyncExternalStore(
    (listener) => {
      const media = window.matchMedia(condition);
      media.addEventListener('change', listener);
      return () => media.removeEventListener('change', listener);
    },
    () => window.matchMedia(condition).matches,
  );

/** The same object as long as it says the same. */
function useStable(filters: Filters): Filters {
  const [kept, setKept] = useState(filters);
  const isSame = kept.status === filters.status && kept.event === filters.event && kept.time === filters.time;
  if (!isSame) setKept(filters);
  return isSame ? kept : filters;
}

/**
 * Moves the focus to an opened delivery, and back to its row when it is closed.
 * @returns for the delivery's heading
 */
function useFocusMoved(
  deliveryId: string | undefined,
  list: RefObject<ListHandle | null>,
): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null);
  const last = useRef(deliveryId);
  useEffect(() => {
    const before = last.current;
    last.current = deliveryId;
    if (before === deliveryId) return;
    if (deliveryId !== undefined) heading.current?.focus({ preventScroll: true });
    else if (before !== undefined) list.current?.focus(before);
  }, [deliveryId, list]);
  return heading;
}

/** Goes back to where the page was scrolled to before something took its place. */
function useScrollKept(isCovered: boolean): void {
  const before = useRef(0);
  useEffect(() => {
    if (!isCovered) return;
    before.current = window.scrollY;
    window.scrollTo({ top: 0 });
    return () => {
      requestAnimationFrame(() => window.scrollTo({ top: before.current }));
    };
  }, [isCovered]);
}
