import type { Schema } from '../../api/client.ts';
import { useEndpoints, useStats } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Link } from '../../parts/link.tsx';
import { Empty, Failure, Loading } from '../../parts/notice.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { Ago } from '../../parts/time.tsx';
import { useFormat } from '../../text/format.ts';
import { useTexts } from '../../text/language.ts';
import { isNoSandbox, NoSandbox } from '../no-sandbox.tsx';
import { longestWait } from './attention.ts';
import { Chart, Figure, Outcomes, useRange } from './figures.tsx';
import { useFirstSteps } from './first-steps.tsx';
import { type ListTime, listOf } from './lists.ts';
import { EndpointRows } from './rows.tsx';
import { Troubles } from './troubles.tsx';

/** Whether webhooks arrive, at a glance: first what needs attention. */
export default function Overview() {
  const t = useTexts();
  const { environment } = useEnvironment();
  const { hours, time, field } = useRange();
  const { data: stats, error, refetch } = useStats(environment, hours);
  // Rows do not move when the names of the endpoints come.
  const { isPending } = useEndpoints(environment, false);
  const data = isPending ? undefined : stats;
  const firstSteps = useFirstSteps(environment === 'live' ? data?.endpoints : undefined);
  if (isNoSandbox(error)) return <NoSandbox title={t.overview.title} />;
  return (
    <Page title={t.overview.title} actions={field}>
      {error ? <Failure title={t.failure.loading} error={error} onRetry={() => void refetch()} /> : null}
      {data === undefined || data.endpoints.length === 0 ? null : (
        <Card
          title={t.overview.attention}
          actions={<Link to={`/failures?time=${time}`}>{t.numbers.byCause}</Link>}
        >
          <Troubles endpoints={data.endpoints} />
        </Card>
      )}
      {firstSteps?.isPast ? null : firstSteps?.card}
      {data === undefined ? (
        error ? null : (
          <Loading lines={9} />
        )
      ) : data.endpoints.length === 0 ? (
        firstSteps === undefined ? (
          <NoEndpoints />
        ) : null
      ) : (
        <Statistics stats={data} time={time} />
      )}
      {firstSteps?.isPast ? firstSteps.card : null}
    </Page>
  );
}

function NoEndpoints() {
  const t = useTexts();
  return (
    <Empty title={t.overview.emptyTitle}>
      <p>{t.overview.emptyAbout}</p>
      {useIsAdmin() ? <AddEndpoint /> : <p>{t.overview.emptyMembers}</p>}
    </Empty>
  );
}

const AddEndpoint = () => <Link to="/endpoints?add">{useTexts().overview.emptyAction}</Link>;

function Statistics({ stats, time }: { stats: Schema<'DeliveryStats'>; time: ListTime }) {
  const t = useTexts();
  return (
    <>
      <Outcomes totals={stats.totals} to={(outcome) => listOf(outcome, stats.endpoints, time)}>
        <Backlog stats={stats} />
      </Outcomes>
      <Card title={t.overview.chart}>
        <Chart stats={stats} />
      </Card>
      <Card title={t.overview.endpoints} actions={useIsAdmin() ? <AddEndpoint /> : null}>
        <EndpointRows endpoints={stats.endpoints} time={time} />
      </Card>
    </>
  );
}

/** Deliveries in progress, of any time: they are no outcome yet. All end within three days. */
function Backlog({ stats }: { stats: Schema<'DeliveryStats'> }) {
  const t = useTexts();
  const format = useFormat();
  const { pending } = stats.backlog;
  const wait = longestWait(stats.endpoints);
  return (
    <Figure
      name={t.numbers.open}
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
