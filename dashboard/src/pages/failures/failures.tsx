import { useMemo, useState } from 'react';
import { useSearchParams } from 'wouter';
import type { Schema } from '../../api/client.ts';
import { useStats } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Button } from '../../parts/button.tsx';
import { Choose } from '../../parts/choose.tsx';
import { Link } from '../../parts/link.tsx';
import { LoadedPage } from '../../parts/loaded.tsx';
import { Empty, Failure, Loading } from '../../parts/notice.tsx';
import { format, t } from '../../text/language.ts';
import styles from './failures.module.css';
import { Group } from './group.tsx';
import { groupFailures } from './groups.ts';
import { STATUS_CHOICES, type StatusChoice, useFailures } from './use-failures.ts';

const HOUR_MS = 3_600_000;
/** Hours; the statistics, which say where there are failures, have no more than a week. */
const TIMES = { hour: 1, day: 24, week: 168 } as const;
type Time = keyof typeof TIMES;
const TIME_NAMES = Object.keys(TIMES) as Time[];
const STATUS_NAMES = Object.keys(STATUS_CHOICES) as StatusChoice[];

export default function Failures() {
  const { environment } = useEnvironment();
  const [search, setSearch] = useSearchParams();
  const time = TIME_NAMES.find((name) => name === search.get('time')) ?? 'day';
  const status = STATUS_NAMES.find((name) => name === search.get('status')) ?? 'any';
  const show = (changed: { time?: Time; status?: StatusChoice }) =>
    setSearch({ time, status, ...changed }, { replace: true });
  // An hour of the clock more: the statistics begin at a full hour.
  const query = useStats(environment, Math.min(168, TIMES[time] + 1));
  const names = { hour: t.deliveries.hour, day: t.deliveries.day, week: t.deliveries.week };
  return (
    <LoadedPage
      title={t.failures.title}
      about={t.failures.about}
      query={query}
      actions={
        <div className={styles.choices}>
          <Choose
            label={t.common.status}
            options={STATUS_NAMES.map((value) => ({ value, label: t.failures.statuses[value] }))}
            value={status}
            onChange={(value) => show({ status: value })}
          />
          <Choose
            label={t.common.time}
            options={TIME_NAMES.map((value) => ({ value, label: names[value] }))}
            value={time}
            onChange={(value) => show({ time: value })}
          />
        </div>
      }
    >
      {(stats) => (
        <Groups key={time} stats={stats} time={time} status={status} onRefresh={() => void query.refetch()} />
      )}
    </LoadedPage>
  );
}

/** Deliveries that failed at endpoints that were deleted since: the event log shows them. */
function AtDeleted({ stats }: { stats: Schema<'DeliveryStats'> }) {
  const current = stats.endpoints.reduce((sum, { totals }) => sum + totals.exhausted, 0);
  const count = stats.totals.exhausted - current;
  if (count <= 0) return null;
  return (
    <p>
      <Link to="/events?outcome=failed">{t.failures.atDeleted(count, format.number(count))}</Link>
    </p>
  );
}

function Groups({
  stats,
  time,
  status,
  onRefresh,
}: {
  stats: Schema<'DeliveryStats'>;
  time: Time;
  status: StatusChoice;
  /** Reads the statistics again, which may name more endpoints. */
  onRefresh: () => void;
}) {
  const { environment } = useEnvironment();
  // Fixed as long as the page is open, so that reading further continues one listing.
  const [from] = useState(() => new Date(Date.now() - TIMES[time] * HOUR_MS).toISOString());
  const failing = stats.endpoints.filter(
    ({ totals }) => totals.exhausted + (status === 'any' ? totals.pending : 0) > 0,
  );
  const reading = useFailures(
    environment,
    failing.map(({ webhookId }) => webhookId),
    { from, status },
  );
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = reading;
  const deliveries = useMemo(() => data?.pages.flatMap((page) => page.deliveries) ?? [], [data]);
  const groups = useMemo(() => groupFailures(deliveries), [deliveries]);
  if (data === undefined)
    return error ? (
      <Failure title={t.failure.loading} error={error} onRetry={() => void refetch()} />
    ) : (
      <Loading />
    );
  return (
    <>
      <AtDeleted stats={stats} />
      {groups.length === 0 && !hasNextPage ? (
        <Empty title={t.failures.none}>
          <p>{t.failures.noneOf[status]}</p>
        </Empty>
      ) : (
        <ul className={styles.groups} aria-label={t.failures.list}>
          {groups.map((group) => (
            <li key={group.key} className={styles.group}>
              <Group group={group} endpoints={stats.endpoints} onResent={() => void refetch()} />
            </li>
          ))}
        </ul>
      )}
      {error ? (
        <Failure title={t.failure.loading} error={error} onRetry={() => void fetchNextPage()} />
      ) : null}
      <div className="row">
        <span className="quiet" role="status">
          {deliveries.length === 0 && !hasNextPage
            ? ''
            : `${t.failures.read(deliveries.length, format.number(deliveries.length))} ${hasNextPage ? '' : t.failures.readAll}`}
        </span>
        <Button
          look="plain"
          onPress={() => {
            onRefresh();
            void refetch();
          }}
        >
          {t.failures.refresh}
        </Button>
        {hasNextPage ? (
          <Button isPending={isFetchingNextPage} onPress={() => void fetchNextPage()}>
            {t.failures.readMore}
          </Button>
        ) : null}
      </div>
    </>
  );
}
