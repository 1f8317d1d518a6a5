import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Link } from '../../parts/link.tsx';
import { Table } from '../../parts/page.tsx';
import { format, t } from '../../text/language.ts';
import { type Bucket, type Counts, roundUp, totalOf } from './buckets.ts';
import styles from './chart.module.css';

/** From the ground up. What is in progress is no outcome yet, and is on top. */
const OUTCOMES = ['succeeded', 'skipped', 'exhausted', 'pending'] as const satisfies (keyof Counts)[];

const WIDTH = 1000;
const HEIGHT = 100;
/** So that a few failures among thousands can be seen. */
const LEAST = 1.5;
const TICKS = 4;
/** Of a bar's place. */
const GAP = 0.2;

/** Deliveries by outcome over time, as bars and, for those who want figures or hear the page, as a table. */
export function OutcomeChart({
  buckets,
  note,
  to,
}: {
  buckets: readonly Bucket[];
  note: string;
  /** The list of what a bar counts. */
  to: (start: string) => string;
}) {
  const [isTable, setTable] = useState(false);
  const [pointed, setPointed] = useState<number>();
  const names = { ...t.status, pending: t.common.open };
  const top = roundUp(Math.max(...buckets.map(totalOf), 0));
  const present = OUTCOMES.filter((outcome) => buckets.some((bucket) => bucket[outcome] > 0));
  const ticks = ticksOf(buckets);
  return (
    <div className={styles.chart}>
      <ul className={styles.legend}>
        {present.map((outcome) => (
          <li key={outcome}>
            <svg aria-hidden="true" viewBox="0 0 1 1">
              <rect width="1" height="1" className={styles[outcome]} />
            </svg>
            {names[outcome]}
          </li>
        ))}
      </ul>
      <div aria-hidden="true" className={styles.frame} onPointerLeave={() => setPointed(undefined)}>
        <div className={styles.axis}>{format.number(top)}</div>
        <svg
          aria-hidden="true"
          className={styles.plot}
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
        >
          {[0, 0.5, 1].map((share) => (
            <line
              key={share}
              className={styles.grid}
              x1="0"
              x2={WIDTH}
              y1={HEIGHT * share}
              y2={HEIGHT * share}
            />
          ))}
          {buckets.map((bucket, index) => (
            <Bar
              key={bucket.start}
              bucket={bucket}
              x={(index * WIDTH) / buckets.length}
              width={WIDTH / buckets.length}
              top={top}
              to={to(bucket.start)}
              onPointed={() => setPointed(index)}
            />
          ))}
        </svg>
        <Card bucket={buckets[pointed ?? -1]} place={((pointed ?? 0) + 0.5) / buckets.length} names={names} />
        <div className={styles.axis}>
          {ticks.map(({ start }) => (
            <span key={start}>{format.brief(start)}</span>
          ))}
        </div>
      </div>
      <div className="row">
        <span className="quiet">{note}</span>
        <Button look="plain" aria-expanded={isTable} onPress={() => setTable(!isTable)}>
          {isTable ? t.overview.chartHide : t.overview.chartTable}
        </Button>
      </div>
      {isTable ? (
        <Table
          label={t.overview.chart}
          columns={[t.overview.from]}
          numbers={OUTCOMES.map((outcome) => names[outcome])}
        >
          {buckets.toReversed().map((bucket) => (
            <tr key={bucket.start}>
              <td>
                <Link to={to(bucket.start)}>{format.short(bucket.start)}</Link>
              </td>
              {OUTCOMES.map((outcome) => (
                <td key={outcome} data-number="">
                  {format.number(bucket[outcome])}
                </td>
              ))}
            </tr>
          ))}
        </Table>
      ) : null}
    </div>
  );
}

/** Buckets whose times are below the chart: the first, the last, and others at equal distances. */
const ticksOf = (buckets: readonly Bucket[]): Bucket[] => {
  const places = Array.from({ length: TICKS }, (_, index) =>
    Math.round((index * (buckets.length - 1)) / (TICKS - 1)),
  );
  return [...new Set(places)].flatMap((place) => buckets[place] ?? []);
};

function Bar({
  bucket,
  x,
  width,
  top,
  to,
  onPointed,
}: {
  bucket: Bucket;
  x: number;
  width: number;
  top: number;
  to: string;
  onPointed: () => void;
}) {
  const heights = OUTCOMES.map((outcome) =>
    bucket[outcome] === 0 ? 0 : Math.max(LEAST, (bucket[outcome] / top) * HEIGHT),
  );
  return (
    <Link to={to} className={styles.bar} tabIndex={-1} onPointerEnter={onPointed}>
      {/* So that the pointer meets the hour and not only what happened in it. */}
      <rect x={x} width={width} y="0" height={HEIGHT} fill="transparent" />
      {OUTCOMES.map((outcome, index) => {
        const below = heights.slice(0, index).reduce((sum, height) => sum + height, 0);
        const height = heights[index] ?? 0;
        return (
          <rect
            key={outcome}
            className={styles[outcome]}
            x={x + (width * GAP) / 2}
            width={width * (1 - GAP)}
            y={HEIGHT - below - height}
            height={height}
          />
        );
      })}
    </Link>
  );
}

/** What the bar under the pointer counts. @param place of the bar, 0 to 1 */
const Card = ({
  bucket,
  place,
  names,
}: {
  bucket: Bucket | undefined;
  place: number;
  names: Readonly<Record<keyof Counts, string>>;
}) =>
  bucket === undefined ? null : (
    <div className={styles.card} style={{ left: `${place * 100}%`, translate: `${-place * 100}%` }}>
      <strong>{format.short(bucket.start)}</strong>
      {OUTCOMES.map((outcome) => (
        <span key={outcome}>
          {names[outcome]}: {format.number(bucket[outcome])}
        </span>
      ))}
    </div>
  );
