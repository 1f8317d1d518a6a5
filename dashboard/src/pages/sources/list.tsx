import { useState } from 'react';
import { useSources } from '../../api/sources.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button } from '../../parts/button.tsx';
import { Empty, Failure, Loading } from '../../parts/notice.tsx';
import { Card, Page, Table } from '../../parts/page.tsx';
import { useTexts } from '../../text/language.ts';
import { isNoSandbox, NoSandbox } from '../no-sandbox.tsx';
import { Add } from './add.tsx';
import { SourceRow } from './row.tsx';
import { useThreshold } from './threshold.ts';

/** The sources of the half that is shown. */
export function SourceList() {
  const t = useTexts();
  const { environment } = useEnvironment();
  const isAdmin = useIsAdmin();
  const [isAdding, setAdding] = useState(false);
  const sources = useSources(environment);
  const threshold = useThreshold();
  const { data, error, refetch } = sources;
  if (isNoSandbox(error)) return <NoSandbox title={t.sources.title} />;
  const shown = data?.pages.flatMap((page) => page.data);
  return (
    <Page
      title={t.sources.title}
      about={t.sources.about}
      actions={
        isAdmin ? (
          <Button look="primary" onPress={() => setAdding(true)}>
            {t.sources.add}
          </Button>
        ) : (
          <span className="quiet">{t.adminsChange}</span>
        )
      }
    >
      {error ? <Failure title={t.failure.loading} error={error} onRetry={() => void refetch()} /> : null}
      {shown === undefined && !error ? <Loading /> : null}
      {shown?.length === 0 ? (
        <Empty title={t.sources.emptyTitle}>
          <p>{t.sources.emptyAbout}</p>
        </Empty>
      ) : null}
      {shown !== undefined && shown.length > 0 ? (
        <Card>
          <Table
            label={t.sources.list}
            isStacked="early"
            head={
              <tr>
                <th scope="col">{t.sources.source}</th>
                <th scope="col">{t.sources.kind}</th>
                <th scope="col">{t.sources.status}</th>
                <th scope="col">{t.sources.lastChecked}</th>
                <th scope="col">{t.sources.lastChanged}</th>
                <th scope="col">{t.sources.difference}</th>
              </tr>
            }
          >
            {shown.map((source) => (
              <SourceRow key={source.id} source={source} threshold={threshold} />
            ))}
          </Table>
          {sources.hasNextPage ? (
            <div>
              <Button isPending={sources.isFetchingNextPage} onPress={() => void sources.fetchNextPage()}>
                {t.sources.more}
              </Button>
            </div>
          ) : null}
        </Card>
      ) : null}
      {isAdding ? <Add onClose={() => setAdding(false)} /> : null}
    </Page>
  );
}
