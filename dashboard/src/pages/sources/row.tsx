import type { Source } from '../../api/sources.ts';
import { Link } from '../../parts/link.tsx';
import { Status, type Tone } from '../../parts/status.tsx';
import { Ago } from '../../parts/time.tsx';
import { Url } from '../../parts/url.tsx';
import { t } from '../../text/language.ts';
import { Meter } from './meter.tsx';
import { nameOf } from './name.ts';
import styles from './sources.module.css';

const TONES = { pending: 'busy', ok: 'good', failing: 'warn' } as const satisfies Record<
  Source['status'],
  Tone
>;

/** What the last check of a source came to. */
export const SourceStatus = ({ status }: Pick<Source, 'status'>) => (
  <Status tone={TONES[status]}>{t.sources.statuses[status]}</Status>
);

/** A moment that may not have come. */
export const AgoOrNever = ({ at }: { at: string | null }) =>
  at === null ? <span className="quiet">{t.sources.never}</span> : <Ago at={at} />;

/** One source of the list. */
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
              <bdi>{source.lastError}</bdi>
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
