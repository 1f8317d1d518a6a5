import { useState } from 'react';
import { useUsage } from '../../api/organization.ts';
import { Choose } from '../../parts/field.tsx';
import { Empty, Failure, Loading } from '../../parts/notice.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { t } from '../../text/language.ts';
import { Bars } from './bars.tsx';
import { Download } from './download.tsx';
import { Months } from './months.tsx';

const RANGES = ['3', '12', '24'] as const;
type Range = (typeof RANGES)[number];

/** What the organization used, by month. */
export default function Usage() {
  const [range, setRange] = useState<Range>('12');
  const { data: months, error, refetch } = useUsage(Number(range));
  const isNothing = months?.every(({ conversations, messages }) => conversations + messages === 0);
  return (
    <Page
      title={t.usage.title}
      about={t.usage.about}
      actions={
        <Choose
          label={t.usage.range}
          options={RANGES.map((value) => ({ value, label: t.usage.ranges[value] }))}
          value={range}
          onChange={setRange}
        />
      }
    >
      {error ? <Failure title={t.failure.loading} error={error} onRetry={() => void refetch()} /> : null}
      {months === undefined && !error ? <Loading /> : null}
      {isNothing === true ? (
        <Empty title={t.usage.emptyTitle}>
          <p>{t.usage.emptyAbout}</p>
        </Empty>
      ) : null}
      {months !== undefined && isNothing === false ? (
        <>
          <Card title={t.usage.chart}>
            <Bars months={months} />
          </Card>
          <Card actions={<Download months={months} />} title={t.usage.range}>
            <Months months={months} />
          </Card>
        </>
      ) : null}
    </Page>
  );
}
