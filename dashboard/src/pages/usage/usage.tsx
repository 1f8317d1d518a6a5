import { useSearchParams } from 'wouter';
import { useUsage } from '../../api/organization.ts';
import { Choose } from '../../parts/field.tsx';
import { LoadedPage } from '../../parts/loaded.tsx';
import { Empty } from '../../parts/notice.tsx';
import { Card } from '../../parts/page.tsx';
import { t } from '../../text/language.ts';
import { Bars } from './bars.tsx';
import { Download } from './download.tsx';
import { Months } from './months.tsx';

const RANGES = ['3', '12', '24'] as const;

/** What the organization used, by month. */
export default function Usage() {
  const [search, setSearch] = useSearchParams();
  const range = RANGES.find((months) => months === search.get('months')) ?? '12';
  return (
    <LoadedPage
      title={t.usage.title}
      about={t.usage.about}
      query={useUsage(Number(range))}
      actions={
        <Choose
          label={t.usage.range}
          options={RANGES.map((value) => ({ value, label: t.usage.ranges[value] }))}
          value={range}
          onChange={(months) => setSearch({ months }, { replace: true })}
        />
      }
    >
      {(months) =>
        months.every(({ conversations, messages }) => conversations + messages === 0) ? (
          <Empty title={t.usage.emptyTitle}>
            <p>{t.usage.emptyAbout}</p>
          </Empty>
        ) : (
          <>
            <Card title={t.usage.chart}>
              <Bars months={months} />
            </Card>
            <Card actions={<Download months={months} />} title={t.usage.range}>
              <Months months={months} />
            </Card>
          </>
        )
      }
    </LoadedPage>
  );
}
