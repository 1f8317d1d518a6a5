import { useState } from 'react';
import { useLocation, useParams } from 'wouter';
import { useIdempotencyKeys } from '../../api/idempotency.ts';
import { type Source, useAddSource, useSources } from '../../api/sources.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button } from '../../parts/button.tsx';
import { Choose } from '../../parts/choose.tsx';
import { TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { LoadedPage, More } from '../../parts/loaded.tsx';
import { Empty } from '../../parts/notice.tsx';
import { Card, Table } from '../../parts/page.tsx';
import { t } from '../../text/language.ts';
import { ContentPage } from './content.tsx';
import { SourceRow, useThreshold } from './row.tsx';
import { SourcePage } from './source.tsx';

export default function Sources() {
  const { id, part } = useParams<{ id?: string; part?: string }>();
  if (id !== undefined && part === 'content') return <ContentPage key={id} id={id} />;
  return id === undefined ? <SourceList /> : <SourcePage key={id} id={id} />;
}

function SourceList() {
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
        ) : (
          <span className="quiet">{t.admins}</span>
        )
      }
    >
      {({ pages }) => (
        <>
          {pages[0]?.data.length === 0 ? (
            <Empty title={t.sources.emptyTitle}>
              <p>{t.sources.emptyAbout}</p>
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

const KINDS = ['url', 'spreadsheet', 'feed'] as const satisfies readonly Source['kind'][];
const MAX_URL = 2048;
const MAX_NAME = 200;

function Add({ onClose }: { onClose: () => void }) {
  const { environment, to } = useEnvironment();
  const [, go] = useLocation();
  const [url, setUrl] = useState('');
  const [kind, setKind] = useState<Source['kind']>('url');
  const [name, setName] = useState('');
  const keyOf = useIdempotencyKeys();
  const adding = useAddSource(environment);
  const submit = () => {
    const given = name.trim();
    const body = { kind, url: url.trim(), ...(given === '' ? {} : { name: given }) };
    adding.mutate({ ...body, key: keyOf(body) }, { onSuccess: ({ id }) => go(to(`/sources/${id}`)) });
  };
  return (
    <FormDialog
      title={t.sources.add}
      action={t.sources.addAction}
      sent={adding}
      fields={['url', 'name']}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label={t.sources.url}
        hint={environment === 'sandbox' ? t.sources.urlHintSandbox : t.sources.urlHint}
        type="url"
        name="url"
        isRequired
        isCode
        autoFocus
        maxLength={MAX_URL}
        placeholder="https://example.com/prices"
        value={url}
        onChange={setUrl}
        validate={(given) => (/^\s*https:/i.test(given) ? null : t.forms.faults.url_scheme?.(0))}
      />
      <Choose
        label={t.common.kind}
        options={KINDS.map((each) => ({ value: each, label: t.sources.kindHints[each] }))}
        value={kind}
        onChange={setKind}
      />
      <TextField
        label={t.common.name}
        hint={t.sources.nameHint}
        name="name"
        maxLength={MAX_NAME}
        value={name}
        onChange={setName}
      />
    </FormDialog>
  );
}
