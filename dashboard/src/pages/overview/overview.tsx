import { useState, useSyncExternalStore } from 'react';
import type { Schema } from '../../api/client.ts';
import { useStats } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Choose } from '../../parts/field.tsx';
import { Link } from '../../parts/link.tsx';
import { Empty, Failure, Loading } from '../../parts/notice.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { Ago } from '../../parts/time.tsx';
import { useFormat } from '../../text/format.ts';
import { useTexts } from '../../text/language.ts';
import { isNoSandbox, NoSandbox } from '../no-sandbox.tsx';
import { bucketsOf, successRate } from './buckets.ts';
import { OutcomeChart } from './chart.tsx';
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
      {data === undefined ? error ? null : <Loading lines={9} /> : <Statistics stats={data} />}
    </Page>
  );
}

function Statistics({ stats }: { stats: Schema<'DeliveryStats'> }) {
  const t = useTexts();
  const bars = useBars();
  if (stats.endpoints.length === 0)
    return (
      <Empty title={t.overview.emptyTitle}>
        <p>{t.overview.emptyAbout}</p>
        <Link to="/endpoints">{t.overview.emptyAction}</Link>
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
        <p className="quiet">{t.overview.behind}</p>
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
  return (
    <div className={styles.figures}>
      <Figure name={t.overview.rate} value={rate === undefined ? '–' : format.percent(rate)} />
      <Figure name={t.overview.succeeded} value={format.number(totals.succeeded)} />
      <Figure name={t.overview.failed} value={format.number(totals.exhausted)} />
      <Figure name={t.overview.skipped} value={format.number(totals.skipped)} />
      <dl className={styles.figure}>
        <dt>{t.overview.backlog}</dt>
        <dd>{format.number(backlog.pending)}</dd>
        <dd>
          {backlog.oldestPending === null ? (
            t.overview.backlogNone
          ) : (
            <>
              {t.overview.backlogSince} <Ago at={backlog.oldestPending} />
            </>
          )}
        </dd>
      </dl>
    </div>
  );
}

const Figure = ({ name, value }: { name: string; value: string }) => (
  <dl className={styles.figure}>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </dl>
);

const NARROW = window.matchMedia('(max-width: 600px)');
const BARS = { narrow: 28, wide: 84 };

/** How many bars there is room for. */
const useBars = (): number =>
  useSyncExternalStore(
    (listener) => {
      NARROW.addEventListener('change', listener);
      return () => NARROW.removeEventListener('change', listener);
    },
    () => (NARROW.matches ? BARS.narrow : BARS.wide),
  );
