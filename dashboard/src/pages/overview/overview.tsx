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
import { bucketsOf, hoursOfBar, successRate } from './buckets.ts';
import { OutcomeChart } from './chart.tsx';
import { useFirstSteps } from './first-steps.tsx';
import styles from './overview.module.css';
import { EndpointRows } from './rows.tsx';
import { Troubles } from './troubles.tsx';

const RANGES = ['24', '72', '168'] as const;

/** Whether webhooks arrive, at a glance. */
export default function Overview() {
  const t = useTexts();
  const { environment } = useEnvironment();
  const [range, setRange] = useState<(typeof RANGES)[number]>('24');
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
            options={RANGES.map((value) => ({ value, label: t.overview.ranges[value] }))}
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
        <Statistics stats={data} />
      )}
    </Page>
  );
}

function Statistics({ stats }: { stats: Schema<'DeliveryStats'> }) {
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
      <Figures stats={stats} />
      <Card title={t.overview.attention}>
        <Troubles endpoints={stats.endpoints} />
      </Card>
      <Card title={t.overview.chart}>
        <OutcomeChart buckets={bucketsOf(stats.hours, stats, bars)} />
        <p className="quiet">
          {t.overview.bars(hoursOfBar(stats, bars))} {t.overview.behind}
        </p>
      </Card>
      <Card title={t.overview.endpoints}>
        <EndpointRows endpoints={stats.endpoints} />
      </Card>
    </>
  );
}

function Figures({ stats }: { stats: Schema<'DeliveryStats'> }) {
  const t = useTexts();
  const format = useFormat();
  const { totals, backlog } = stats;
  const rate = successRate(totals);
  const wait = longestWait(stats.endpoints);
  return (
    <div className={styles.figures}>
      <Figure name={t.overview.rate} value={rate === undefined ? '–' : format.percent(rate)}>
        {totals.pending === 0 ? null : t.overview.rateWithout(format.number(totals.pending))}
      </Figure>
      <Figure name={t.overview.succeeded} value={format.number(totals.succeeded)} />
      <Figure name={t.overview.failed} value={format.number(totals.exhausted)} />
      <Figure name={t.overview.skipped} value={format.number(totals.skipped)} />
      <Figure name={t.overview.backlog} value={format.number(backlog.pending)}>
        {backlog.pending === 0 ? t.overview.backlogNone : null}
        {backlog.pending > 0 && wait === null ? t.overview.backlogBrief : null}
        {wait === null ? null : (
          <>
            {t.overview.longestWait} <Ago at={wait} />
          </>
        )}
      </Figure>
    </div>
  );
}

const Figure = ({ name, value, children }: { name: string; value: string; children?: ReactNode }) => (
  <dl className={styles.figure}>
    <dt>{name}</dt>
    <dd>{value}</dd>
    {children ? <dd>{children}</dd> : null}
  </dl>
);

const useIsNarrow = mediaQuery('(max-width: 600px)');
const BARS = { narrow: 28, wide: 84 };
