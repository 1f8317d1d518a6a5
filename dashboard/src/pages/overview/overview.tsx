import { type ReactNode, useState } from 'react';
import type { Schema } from '../../api/client.ts';
import { useStats } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Choose } from '../../parts/field.tsx';
import { Link } from '../../parts/link.tsx';
import { mediaQuery } from '../../parts/media.ts';
import { Empty, Failure, Loading } from '../../parts/notice.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { Ago } from '../../parts/time.tsx';
import { useFormat } from '../../text/format.ts';
import { useTexts } from '../../text/language.ts';
import { isNoSandbox, NoSandbox } from '../no-sandbox.tsx';
import { longestWait } from './attention.ts';
import { bucketsOf, type Counts, hoursOfBar, successRate } from './buckets.ts';
import { OutcomeChart } from './chart.tsx';
import { useFirstSteps } from './first-steps.tsx';
import { type ListTime, listOf } from './lists.ts';
import styles from './overview.module.css';
import { EndpointRows } from './rows.tsx';
import { Troubles } from './troubles.tsx';

/** Hours, and what lists of the same time call it. */
const RANGES = { '24': 'day', '168': 'week' } as const;
type Range = keyof typeof RANGES;
const RANGE_NAMES = Object.keys(RANGES) as Range[];

/** Whether webhooks arrive, at a glance. */
export default function Overview() {
  const t = useTexts();
  const { environment } = useEnvironment();
  const [range, setRange] = useState<Range>('24');
  const { data, error, refetch } = useStats(environment, Number(range));
  const firstSteps = useFirstSteps(
    environment === 'live' ? data?.endpoints.map(({ webhookId }) => webhookId) : undefined,
  );
  if (isNoSandbox(error)) return <NoSandbox title={t.overview.title} />;
  return (
    <Page
      title={t.overview.title}
      actions={
        <div className={styles.ranges}>
          <Choose
            label={t.overview.range}
            options={RANGE_NAMES.map((value) => ({ value, label: t.overview.ranges[value] }))}
            value={range}
            onChange={setRange}
          />
        </div>
      }
    >
      {error ? <Failure title={t.failure.loading} error={error} onRetry={() => void refetch()} /> : null}
      {firstSteps}
      {data === undefined ? (
        error ? null : (
          <Loading lines={9} />
        )
      ) : data.endpoints.length === 0 && firstSteps !== undefined ? null : (
        <Statistics stats={data} time={RANGES[range]} />
      )}
    </Page>
  );
}

function Statistics({ stats, time }: { stats: Schema<'DeliveryStats'>; time: ListTime }) {
  const t = useTexts();
  // As many as there is room for.
  const bars = useIsNarrow() ? BARS.narrow : BARS.wide;
  const isAdmin = useIsAdmin();
  if (stats.endpoints.length === 0)
    return (
      <Empty title={t.overview.emptyTitle}>
        <p>{t.overview.emptyAbout}</p>
        {isAdmin ? <Link to="/endpoints">{t.overview.emptyAction}</Link> : <p>{t.overview.emptyMembers}</p>}
      </Empty>
    );
  return (
    <>
      <Figures stats={stats} time={time} />
      <Card
        title={t.overview.attention}
        actions={<Link to={`/failures?time=${time}`}>{t.numbers.byCause}</Link>}
      >
        <Troubles endpoints={stats.endpoints} />
      </Card>
      <Card title={t.overview.chart}>
        <OutcomeChart buckets={bucketsOf(stats.hours, stats, bars)} />
        <p className="quiet">
          {t.overview.bars(hoursOfBar(stats, bars))} {t.overview.behind}
        </p>
      </Card>
      <Card title={t.overview.endpoints}>
        <EndpointRows endpoints={stats.endpoints} time={time} />
      </Card>
    </>
  );
}

function Figures({ stats, time }: { stats: Schema<'DeliveryStats'>; time: ListTime }) {
  const t = useTexts();
  const format = useFormat();
  const { totals } = stats;
  const rate = successRate(totals);
  const figure = (name: string, of: keyof Counts) => (
    <Figure
      name={name}
      value={format.number(totals[of])}
      {...(totals[of] === 0 ? {} : { to: listOf(of, stats.endpoints, time) })}
    />
  );
  return (
    <div className={styles.groups}>
      <section className={styles.figures} aria-label={t.numbers.outcomes}>
        <Figure name={t.overview.rate} value={rate === undefined ? '–' : format.percent(rate)}>
          {t.numbers.rate}
        </Figure>
        {figure(t.overview.succeeded, 'succeeded')}
        {figure(t.overview.failed, 'exhausted')}
        {figure(t.overview.skipped, 'skipped')}
      </section>
      <section className={styles.figures} aria-label={t.numbers.open}>
        <Backlog stats={stats} />
      </section>
    </div>
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

/** @param to the list that the value counts */
function Figure({
  name,
  value,
  to,
  children,
}: {
  name: string;
  value: string;
  to?: string;
  children?: ReactNode;
}) {
  const t = useTexts();
  return (
    <dl className={styles.figure}>
      <dt>{name}</dt>
      <dd>
        {to === undefined ? (
          value
        ) : (
          <Link to={to} aria-label={t.numbers.seeList(name, value)}>
            {value}
          </Link>
        )}
      </dd>
      {children ? <dd>{children}</dd> : null}
    </dl>
  );
}

const useIsNarrow = mediaQuery('(max-width: 600px)');
const BARS = { narrow: 28, wide: 84 };
