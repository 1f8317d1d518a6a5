import { useOrganization } from '../../api/organization.ts';
import type { Source } from '../../api/sources.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Link } from '../../parts/link.tsx';
import { Status, type Tone } from '../../parts/status.tsx';
import { Ago } from '../../parts/time.tsx';
import { Url } from '../../parts/url.tsx';
import { sourceErrorText } from '../../text/error-text.ts';
import { format, t } from '../../text/language.ts';
import { nameOf } from './name.ts';
import styles from './sources.module.css';

const TONES = { pending: 'busy', ok: 'good', failing: 'warn' } as const satisfies Record<
  Source['status'],
  Tone
>;

export const SourceStatus = ({ status }: Pick<Source, 'status'>) => (
  <Status tone={TONES[status]}>{t.sources.statuses[status]}</Status>
);

/** A moment that may not have come. */
export const AgoOrNever = ({ at }: { at: string | null }) =>
  at === null ? <span className="quiet">{t.sources.never}</span> : <Ago at={at} />;

export function SourceRow({ source, threshold }: { source: Source; threshold: number | undefined }) {
  const name = nameOf(source);
  return (
    <tr>
      <th scope="row">
        <span className={styles.name}>
          <Link to={`/sources/${source.id}`}>
            {name === source.url ? <Url url={name} /> : <bdi>{name}</bdi>}
          </Link>
          {name === source.url ? null : (
            <span className={styles.url}>
              <Url url={source.url} />
            </span>
          )}
          {source.lastError === null ? null : (
            <span className={styles.error}>
              <bdi>{sourceErrorText(source)}</bdi>
            </span>
          )}
        </span>
      </th>
      <td className={styles.short} data-label={t.common.kind}>
        {t.sources.kinds[source.kind]}
      </td>
      <td data-label={t.common.status}>
        <SourceStatus status={source.status} />
      </td>
      <td className={styles.short} data-label={t.sources.lastChecked}>
        <AgoOrNever at={source.lastCheckedAt} />
      </td>
      <td className={styles.short} data-label={t.sources.lastChanged}>
        <AgoOrNever at={source.lastChangedAt} />
      </td>
      <td data-label={t.sources.difference}>
        <Meter difference={source.difference} threshold={threshold} />
      </td>
    </tr>
  );
}

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

/**
 * Percent of a source above which admins are notified; undefined in the sandbox, which has no settings, and
 * while it is unknown.
 */
export function useThreshold(): number | undefined {
  const { environment } = useEnvironment();
  const { data } = useOrganization();
  return environment === 'live' ? data?.contentChangeThreshold : undefined;
}
