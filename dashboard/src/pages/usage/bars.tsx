import { format, t } from '../../text/language.ts';
import type { Month } from './months.tsx';
import styles from './usage.module.css';

const HEIGHT = 100;
const YEAR = 12;

/** A picture of the table below it, oldest month first, so those who hear the page are spared it. */
export function Bars({ months }: { months: readonly Month[] }) {
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
