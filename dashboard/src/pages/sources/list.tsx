import { useState } from 'react';
import { useSources } from '../../api/sources.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button } from '../../parts/button.tsx';
import { LoadedPage, More } from '../../parts/loaded.tsx';
import { Empty } from '../../parts/notice.tsx';
import { Card, Table } from '../../parts/page.tsx';
import { t } from '../../text/language.ts';
import { Add } from './add.tsx';
import { SourceRow } from './row.tsx';
import { useThreshold } from './threshold.ts';

/** The sources of the half that is shown. */
export function SourceList() {
  const { environment } = useEnvironment();
  const isAdmin = useIsAdmin();
  const [isAdding, setAdding] = useState(false);
  const query = useSources(environment);
  const threshold = useThreshold();
  return (
    <LoadedPage
      title={t.sources.title}
      about={t.sources.about}
      query={query}
      actions={
        isAdmin ? (
          <Button look="primary" onPress={() => setAdding(true)}>
            {t.sources.add}
          </Button>
        ) : null
      }
    >
      {({ pages }) => (
        <>
          {pages[0]?.data.length === 0 ? (
            <Empty title={t.sources.emptyTitle}>
              <p>{t.sources.emptyAbout}</p>
              {isAdmin ? null : <p>{t.admins}</p>}
            </Empty>
          ) : (
            <Card>
              <Table
                label={t.sources.title}
                isStacked="early"
                columns={[
                  ...[t.sources.source, t.common.kind, t.common.status, t.sources.lastChecked],
                  ...[t.sources.lastChanged, t.sources.difference],
                ]}
              >
                {pages.flatMap(({ data }) =>
                  data.map((source) => <SourceRow key={source.id} source={source} threshold={threshold} />),
                )}
              </Table>
              <More query={query} />
            </Card>
          )}
          {isAdding ? <Add onClose={() => setAdding(false)} /> : null}
        </>
      )}
    </LoadedPage>
  );
}
