import { type Source, useContent, useSource } from '../../api/sources.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Link } from '../../parts/link.tsx';
import { Loaded, LoadedPage } from '../../parts/loaded.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Card } from '../../parts/page.tsx';
import { format, t } from '../../text/language.ts';
import { nameOf } from './name.ts';
import styles from './sources.module.css';

/** The text that was imported from a source: all of it, so that the browser's search finds everything. */
export function ContentPage({ id }: { id: string }) {
  const { environment } = useEnvironment();
  const query = useSource(environment, id, false);
  const { data: source } = query;
  return (
    <LoadedPage
      title={source === undefined ? t.sources.content : `${t.sources.content}: ${nameOf(source)}`}
      about={<Link to={`/sources/${id}`}>{t.sources.backToSource}</Link>}
      query={query}
    >
      {(shown) => <Content source={shown} />}
    </LoadedPage>
  );
}

/** Untrusted text, shown as text. */
function Content({ source }: { source: Source }) {
  const { environment } = useEnvironment();
  const query = useContent(environment, source);
  if (source.version === null) return <p className="quiet">{t.sources.changesNothing}</p>;
  return (
    <Loaded query={query} lines={3}>
      {({ warnings, version, words, text }) => (
        <>
          <Warnings warnings={warnings} />
          <Card>
            <p className="quiet">{t.sources.contentOf(format.number(version), format.number(words))}</p>
            <div className={styles.content} dir="auto">
              {text}
            </div>
          </Card>
        </>
      )}
    </Loaded>
  );
}

/** What the imported text lacks; nothing where it has all. */
export const Warnings = ({ warnings }: Pick<Source, 'warnings'>) =>
  warnings.length === 0 ? null : (
    <Notice tone="warn" title={t.sources.warnings}>
      <ul>
        {warnings.map(({ code, count }) => (
          <li key={code}>{t.sources.warningTexts[code](count)}</li>
        ))}
      </ul>
    </Notice>
  );
