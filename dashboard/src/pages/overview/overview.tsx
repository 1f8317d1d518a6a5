import type { Schema } from '../../api/client.ts';
import { useEndpoints, useStats } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Link } from '../../parts/link.tsx';
import { LoadedPage } from '../../parts/loaded.tsx';
import { Empty } from '../../parts/notice.tsx';
import { Card } from '../../parts/page.tsx';
import { Ago } from '../../parts/time.tsx';
import { format, t } from '../../text/language.ts';
import { longestWait } from './attention.ts';
import { Chart, Figure, Outcomes, useRange } from './figures.tsx';
import { useFirstSteps } from './first-steps.tsx';
import { type ListTime, listOf } from './lists.ts';
import { EndpointRows } from './rows.tsx';
import { Troubles } from './troubles.tsx';

/** Whether webhooks arrive, at a glance: first what needs attention. */
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
    {useIsAdmin() ? <Link to="/endpoints">{t.endpoints.add}</Link> : <p>{t.overview.emptyMembers}</p>}
  </Empty>
);

const Statistics = ({ stats, time }: { stats: Schema<'DeliveryStats'>; time: ListTime }) => (
  <>
    <Outcomes totals={stats.totals} to={(outcome) => listOf(outcome, stats.endpoints, time)}>
      <Backlog stats={stats} />
    </Outcomes>
    <Card title={t.overview.chart}>
      <Chart stats={stats} />
    </Card>
    <Card title={t.endpoints.title}>
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
