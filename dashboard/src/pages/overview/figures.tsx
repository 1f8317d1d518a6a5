import type { ReactNode } from 'react';
import { useSearchParams } from 'wouter';
import { Choose } from '../../parts/choose.tsx';
import { Link } from '../../parts/link.tsx';
import { mediaQuery } from '../../parts/media.ts';
import { format, t } from '../../text/language.ts';
import { bucketsOf, type Counts, hoursOfBar, successRate } from './buckets.ts';
import { OutcomeChart } from './chart.tsx';
import { type ListTime, listOfHours } from './lists.ts';
import styles from './overview.module.css';

/** Hours, and what lists of the same time call it. */
const RANGES = { '24': 'day', '168': 'week' } as const;
const RANGE_NAMES = Object.keys(RANGES) as (keyof typeof RANGES)[];

/** The time that figures are of, which the address says, and the field that changes it. */
export function useRange(): { hours: number; time: ListTime; field: ReactNode } {
  const [search, setSearch] = useSearchParams();
  const range = RANGE_NAMES.find((name) => name === search.get('range')) ?? '24';
  const field = (
    <div className={styles.ranges}>
      <Choose
        label={t.common.time}
        options={RANGE_NAMES.map((value) => ({ value, label: t.overview.ranges[value] }))}
        value={range}
        onChange={(value) => setSearch({ range: value }, { replace: true })}
      />
    </div>
  );
  return { hours: Number(range), time: RANGES[range], field };
}

/** What became of deliveries that have ended. @param to the list that a number counts */
export function Outcomes({
  totals,
  to,
  children,
}: {
  totals: Counts;
  to: (outcome: keyof Counts) => string;
  children: ReactNode;
}) {
  const rate = successRate(totals);
  const figure = (name: string, of: keyof Counts) => (
    <Figure name={name} value={format.number(totals[of])} {...(totals[of] === 0 ? {} : { to: to(of) })} />
  );
  return (
    <div className={styles.groups}>
      <section className={styles.figures} aria-label={t.numbers.outcomes}>
        <Figure name={t.overview.rate} value={rate === undefined ? '–' : format.percent(rate)}>
          {t.numbers.rate}
        </Figure>
        {figure(t.status.succeeded, 'succeeded')}
        {figure(t.status.exhausted, 'exhausted')}
        {figure(t.status.skipped, 'skipped')}
      </section>
      <section className={styles.figures} aria-label={t.common.open}>
        {children}
      </section>
    </div>
  );
}

/** @param to the list that the value counts */
export const Figure = ({
  name,
  value,
  to,
  children,
}: {
  name: string;
  value: string;
  to?: string;
  children?: ReactNode;
}) => (
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

/** Outcomes by the hour, in as many bars as there is room for. */
export function Chart({
  stats,
  endpoint,
}: {
  endpoint?: string;
  stats: { from: string; to: string; hours: readonly (Counts & { hour: string })[] };
}) {
  const bars = useIsNarrow() ? BARS.narrow : BARS.wide;
  const hours = hoursOfBar(stats, bars);
  return (
    <OutcomeChart
      to={(start) => listOfHours(start, hours, endpoint)}
      buckets={bucketsOf(stats.hours, stats, bars)}
      note={`${t.overview.bars(hours)} ${t.overview.behind}`}
    />
  );
}

const useIsNarrow = mediaQuery('(max-width: 600px)');
const BARS = { narrow: 28, wide: 84 };
