import type { Schema } from '../../api/client.ts';
import { type Source, useChanges } from '../../api/sources.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Link } from '../../parts/link.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Card } from '../../parts/page.tsx';
import { Moment } from '../../parts/time.tsx';
import { format, t } from '../../text/language.ts';
import { useThreshold } from './row.tsx';
import styles from './sources.module.css';

/**
 * Changes of a source since admins were last notified, and those that they were notified of. Untrusted text,
 * shown as text.
 */
export function Changes({ source }: { source: Source }) {
  const { environment } = useEnvironment();
  const query = useChanges(environment, source);
  return (
    <>
      {query.data?.announced ? <Announced changes={query.data.announced} /> : null}
      <Card title={t.common.changes}>
        <Loaded query={query} lines={3}>
          {(changes) => <Present changes={changes} isNotified={source.lastNotifiedAt !== null} />}
        </Loaded>
      </Card>
    </>
  );
}

function Present({ changes, isNotified }: { changes: Schema<'SourceChanges'>; isNotified: boolean }) {
  const { from, to } = changes;
  if (from === null || to === null) return <p className="quiet">{t.sources.changesNothing}</p>;
  if (from.version === to.version)
    return <p className="quiet">{isNotified ? t.sources.changesNone : t.sources.changesNoneYet}</p>;
  return (
    <>
      <p className="quiet">{t.sources.changesBetween(versionOf(from), versionOf(to))}</p>
      <Lines changes={changes} />
    </>
  );
}

function Announced({ changes }: { changes: Schema<'AnnouncedChanges'> }) {
  const threshold = useThreshold();
  const { from, to, difference, announcedAt } = changes;
  return (
    <Card title={t.sources.announced}>
      <p>
        {t.sources.announcedAt} <Moment at={announcedAt} />.
        {from === null || to === null || difference === null
          ? null
          : ` ${t.sources.announcedBetween(format.percent(difference / 100), versionOf(from), versionOf(to))}`}
        {threshold === undefined ? null : (
          <>
            {' '}
            {t.sources.announcedAbove(format.percent(threshold / 100))}{' '}
            <Link to="/settings">{t.sources.changeThreshold}</Link>
          </>
        )}
      </p>
      <Lines changes={changes} />
    </Card>
  );
}

const Lines = ({ changes: { added, removed } }: { changes: { added: string; removed: string } }) => (
  <>
    {added === '' && removed === '' ? <p>{t.sources.changesMoved}</p> : null}
    {removed === '' ? null : (
      <section className="stack">
        <h3>{t.sources.removed}</h3>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
        <del className={styles.removed} dir="auto" tabIndex={0}>
          {removed}
        </del>
      </section>
    )}
    {added === '' ? null : (
      <section className="stack">
        <h3>{t.sources.added}</h3>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
        <ins className={styles.added} dir="auto" tabIndex={0}>
          {added}
        </ins>
      </section>
    )}
  </>
);

const versionOf = ({ version, words }: Schema<'SourceVersion'>): string =>
  t.sources.versionOf(format.number(version), format.number(words));
