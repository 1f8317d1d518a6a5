import { type Source, useContent, useSource } from '../../api/sources.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Link } from '../../parts/link.tsx';
import { Failure, Loading, Notice } from '../../parts/notice.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { format, t } from '../../text/language.ts';
import { isNoSandbox, NoSandbox } from '../no-sandbox.tsx';
import { nameOf } from './name.ts';
import styles from './sources.module.css';
import { Warnings } from './warnings.tsx';

/** The text that was imported from a source: all of it, so that the browser's search finds everything. */
export function ContentPage({ id }: { id: string }) {
  const { environment } = useEnvironment();
  const { data: source, error, refetch } = useSource(environment, id, false);
  if (isNoSandbox(error)) return <NoSandbox title={t.sources.title} />;
  return (
    <Page title={source === undefined ? t.sources.content : `${t.sources.content}: ${nameOf(source)}`}>
      <p>
        <Link to={`/sources/${id}`}>{t.sources.backToSource}</Link>
      </p>
      {error ? <Failure title={t.failure.loading} error={error} onRetry={() => void refetch()} /> : null}
      {source === undefined && !error ? <Loading /> : null}
      {source === undefined ? null : <Content source={source} />}
    </Page>
  );
}

/** Untrusted text, shown as text. */
function Content({ source }: { source: Source }) {
  const { environment } = useEnvironment();
  const { data, error, refetch } = useContent(environment, source);
  if (source.version === null) return <p className="quiet">{t.sources.changesNothing}</p>;
  if (error) return <Failure title={t.failure.loading} error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading lines={3} />;
  return (
    <>
      {data.warnings.length === 0 ? null : (
        <Notice tone="warn" title={t.sources.warnings}>
          <Warnings warnings={data.warnings} />
        </Notice>
      )}
      <Card>
        <p className="quiet">{t.sources.contentOf(format.number(data.version), format.number(data.words))}</p>
        <div className={styles.content} dir="auto">
          {data.text}
        </div>
      </Card>
    </>
  );
}
