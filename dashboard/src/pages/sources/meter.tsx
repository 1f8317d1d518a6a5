import { format, t } from '../../text/language.ts';
import styles from './sources.module.css';

/** How much of a source changed, and the threshold of notifications. Both in percent. */
export function Meter({
  difference,
  threshold,
}: {
  difference: number | null;
  threshold: number | undefined;
}) {
  if (difference === null) return <span className="quiet">{t.sources.unknown}</span>;
  const percent = format.percent(difference / 100);
  const isBeyond = threshold !== undefined && difference > threshold;
  return (
    <span className={styles.meter}>
      <svg
        role="img"
        aria-label={
          threshold === undefined
            ? t.sources.differenceAlone(percent)
            : t.sources.differenceOf(percent, format.percent(threshold / 100))
        }
        viewBox="0 0 100 10"
        preserveAspectRatio="none"
      >
        <rect className={styles.ground} width="100" height="10" />
        <rect className={isBeyond ? styles.beyond : styles.within} width={difference} height="10" />
        {threshold === undefined ? null : (
          <rect className={styles.threshold} x={Math.min(threshold, 99)} width="1" height="10" />
        )}
      </svg>
      <span aria-hidden="true">{percent}</span>
    </span>
  );
}
