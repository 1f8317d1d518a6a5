import { useSearchParams } from 'wouter';
import type { Schema } from '../../api/client.ts';
import { useUsage } from '../../api/organization.ts';
import { Button } from '../../parts/button.tsx';
import { Choose } from '../../parts/choose.tsx';
import { LoadedPage } from '../../parts/loaded.tsx';
import { Empty } from '../../parts/notice.tsx';
import { Card, Table } from '../../parts/page.tsx';
import { format, t } from '../../text/language.ts';
import { csvOf } from './csv.ts';
import styles from './usage.module.css';

const RANGES = ['3', '12', '24'] as const;

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

const HEIGHT = 100;
const YEAR = 12;

/** A picture of the table below it, oldest month first, so those who hear the page are spared it. */
function Bars({ months }: { months: readonly Month[] }) {
  const most = Math.max(1, ...months.flatMap(({ conversations, messages }) => [conversations, messages]));
  const oldestFirst = months.toReversed();
  return (
    <figure className={styles.figure} aria-hidden="true">
      <figcaption className="row">
        <span className={styles.key} data-count="conversations">
          {t.usage.conversations}
        </span>
        <span className={styles.key} data-count="messages">
          {t.usage.messages}
        </span>
        <span className="quiet">{t.usage.most(format.number(most))}</span>
      </figcaption>
      <div className={styles.bars} data-many={months.length > YEAR || undefined}>
        {oldestFirst.map((month) => (
          <div key={month.month} className={styles.month}>
            <Pair month={month} most={most} />
            <span className={styles.label}>{format.shortMonth(month.month)}</span>
          </div>
        ))}
      </div>
    </figure>
  );
}

/** The two bars of a month. Anything but nothing is to be seen. */
function Pair({ month, most }: { month: Month; most: number }) {
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(1, (count / most) * HEIGHT));
  return (
    <svg aria-hidden="true" viewBox={`0 0 10 ${HEIGHT}`} preserveAspectRatio="none" className={styles.pair}>
      {(['conversations', 'messages'] as const).map((count, place) => {
        const height = heightOf(month[count]);
        return (
          <rect
            key={count}
            data-count={count}
            x={1 + place * 4}
            y={HEIGHT - height}
            width="4"
            height={height}
          />
        );
      })}
    </svg>
  );
}

function Download({ months }: { months: readonly Month[] }) {
  const download = () => {
    const rows = months.map(({ month, conversations, messages }) => [month, conversations, messages]);
    const content = csvOf([['month', 'conversations', 'messages'], ...rows]);
    const address = URL.createObjectURL(new Blob([content], { type: 'text/csv' }));
    const link = document.createElement('a');
    link.href = address;
    link.download = `${t.usage.file}-${months[0]?.month ?? ''}.csv`;
    link.click();
    URL.revokeObjectURL(address);
  };
  return <Button onPress={download}>{t.usage.download}</Button>;
}

type Month = Schema<'UsageOfMonth'>;

function Months({ months }: { months: readonly Month[] }) {
  const sum = (count: 'conversations' | 'messages') =>
    format.number(months.reduce((total, month) => total + month[count], 0));
  return (
    <Table
      label={t.usage.range}
      columns={[t.usage.month]}
      numbers={[t.usage.conversations, t.usage.messages]}
    >
      {months.map(({ month, conversations, messages }, index) => (
        <tr key={month}>
          <th scope="row">
            <span className={styles.name}>{format.month(month)}</span>{' '}
            {index === 0 ? <span className={styles.about}>({t.usage.current})</span> : null}
          </th>
          <td data-number>{format.number(conversations)}</td>
          <td data-number>{format.number(messages)}</td>
        </tr>
      ))}
      <tr>
        <th scope="row">
          <strong>{t.usage.total}</strong>
        </th>
        <td data-number>
          <strong>{sum('conversations')}</strong>
        </td>
        <td data-number>
          <strong>{sum('messages')}</strong>
        </td>
      </tr>
    </Table>
  );
}
