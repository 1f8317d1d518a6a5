import type { Schema } from '../../api/client.ts';
import { useEndpoints, useStats } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Link } from '../../parts/link.tsx';
import { LoadedPage } from '../../parts/loaded.tsx';
import { Empty } from '../../parts/notice.tsx';
import { Card, Table } from '../../parts/page.tsx';
import { Ago } from '../../parts/time.tsx';
import { format, t } from '../../text/language.ts';
import { EndpointName, EndpointStatus, EndpointUrl } from '../endpoint-name.tsx';
import { longestWait } from './attention.ts';
import { Chart, Figure, Outcomes, useRange } from './figures.tsx';
import { useFirstSteps } from './first-steps.tsx';
import { type ListTime, listOf, listOfEndpoint } from './lists.ts';
import styles from './overview.module.css';
import { Troubles } from './troubles.tsx';

export default function Overview() {
  const { environment } = useEnvironment();
  const { hours, time, field } = useRange();
  const query = useStats(environment, hours);
  // Rows do not move when the names of the endpoints come.
  const { isPending } = useEndpoints(environment, false);
  const data = isPending ? undefined : query.data;
  const firstSteps = useFirstSteps(environment === 'live' ? data?.endpoints : undefined);
  return (
    <LoadedPage title={t.overview.title} actions={field} query={{ ...query, data }} lines={9}>
      {(stats) =>
        stats.endpoints.length === 0 ? (
          (firstSteps?.card ?? <NoEndpoints />)
        ) : (
          <>
            <Card
              title={t.overview.attention}
              actions={<Link to={`/failures?time=${time}`}>{t.failures.list}</Link>}
            >
              <Troubles endpoints={stats.endpoints} />
            </Card>
            {firstSteps?.isPast ? null : firstSteps?.card}
            <Statistics stats={stats} time={time} />
            {firstSteps?.isPast ? firstSteps.card : null}
          </>
        )
      }
    </LoadedPage>
  );
}

const NoEndpoints = () => (
  <Empty title={t.overview.emptyTitle}>
    <p>{t.overview.emptyAbout}</p>
    {useIsAdmin() ? <AddEndpoint /> : <p>{t.overview.emptyMembers}</p>}
  </Empty>
);

const AddEndpoint = () => <Link to="/endpoints?add">{t.endpoints.add}</Link>;

const Statistics = ({ stats, time }: { stats: Schema<'DeliveryStats'>; time: ListTime }) => (
  <>
    <Outcomes totals={stats.totals} to={(outcome) => listOf(outcome, stats.endpoints, time)}>
      <Backlog stats={stats} />
    </Outcomes>
    <Card title={t.overview.chart}>
      <Chart stats={stats} />
    </Card>
    <Card title={t.endpoints.title} actions={useIsAdmin() ? <AddEndpoint /> : null}>
      <EndpointRows endpoints={stats.endpoints} time={time} />
    </Card>
  </>
);

/** Deliveries in progress, of any time: they are no outcome yet. All end within three days. */
function Backlog({ stats }: { stats: Schema<'DeliveryStats'> }) {
  const { pending } = stats.backlog;
  const wait = longestWait(stats.endpoints);
  return (
    <Figure
      name={t.common.open}
      value={format.number(pending)}
      {...(pending === 0 ? {} : { to: listOf('pending', stats.endpoints, 'week') })}
    >
      {pending === 0 ? t.overview.backlogNone : t.numbers.openAbout}{' '}
      {pending > 0 && wait === null ? `${t.overview.backlogBrief}.` : null}
      {wait === null ? null : (
        <>
          {t.overview.longestWait} <Ago at={wait} />.
        </>
      )}
    </Figure>
  );
}

type Row = Schema<'DeliveryStats'>['endpoints'][number];

const OUTCOMES = ['succeeded', 'exhausted', 'skipped', 'pending'] as const;

function EndpointRows({ endpoints, time }: { endpoints: readonly Row[]; time: ListTime }) {
  const names = { ...t.status, pending: t.common.open };
  const hasLatency = endpoints.some(({ latency }) => latency);
  return (
    <Table
      label={t.endpoints.title}
      isStacked="early"
      columns={[t.endpoints.address, t.common.status]}
      numbers={[
        ...OUTCOMES.map((outcome) => names[outcome]),
        ...(hasLatency ? [`${t.numbers.latency} ${t.numbers.latencyHead}`] : []),
      ]}
    >
      {endpoints.map((row) => (
        <tr key={row.webhookId}>
          <td data-url="">
            <Link to={`/endpoints/${row.webhookId}`} className={styles.address}>
              <EndpointName id={row.webhookId} url={row.url} />
            </Link>
            <EndpointUrl id={row.webhookId} url={row.url} />
          </td>
          <td data-label={t.common.status}>
            <EndpointStatus endpoint={row} />
          </td>
          {OUTCOMES.map((outcome) => (
            <td key={outcome} data-number="" data-label={names[outcome]}>
              <Count
                value={row.totals[outcome]}
                name={names[outcome]}
                to={listOfEndpoint(row.webhookId, outcome, time)}
              />
            </td>
          ))}
          {hasLatency ? (
            <td data-number="" data-wide="" data-label={t.numbers.latency}>
              <Latency row={row} />
            </td>
          ) : null}
        </tr>
      ))}
    </Table>
  );
}

/** @param to the list that the value counts */
function Count({ value, name, to }: { value: number; name: string; to: string }) {
  const written = format.number(value);
  return value === 0 ? (
    <span>{written}</span>
  ) : (
    <Link to={to} aria-label={t.numbers.seeList(name, written)}>
      {written}
    </Link>
  );
}

const Latency = ({ row: { latency } }: { row: Row }) => (
  <span>
    {latency ? t.numbers.latencyOf(format.duration(latency.p50Ms), format.duration(latency.p95Ms)) : '–'}
  </span>
);
