import { useState } from 'react';
import { useLocation } from 'wouter';
import { type Source, useDeleteSource, useSource } from '../../api/sources.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Link } from '../../parts/link.tsx';
import { OnePage } from '../../parts/loaded.tsx';
import { Failure, Notice } from '../../parts/notice.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { Url } from '../../parts/url.tsx';
import { t } from '../../text/language.ts';
import { Changes } from './changes.tsx';
import { type Checking, CheckNow, checkingOf } from './check-now.tsx';
import { SourceFacts } from './facts.tsx';
import { nameOf } from './name.ts';
import { Warnings } from './warnings.tsx';

/** One source: what is known of it, what changed, and a check now. */
export function SourcePage({ id }: { id: string }) {
  const { environment } = useEnvironment();
  const [before, setBefore] = useState<Source>();
  const [isChecked, setChecked] = useState(false);
  const query = useSource(environment, id, isChecked);
  const checking = checkingOf(before, query.data);
  if (isChecked !== (checking === 'in progress')) setChecked(checking === 'in progress');
  return (
    <OnePage
      query={query}
      title={t.sources.title}
      gone={t.sources.gone}
      list={['/sources', t.sources.back]}
    >
      {(shown) => <Shown source={shown} checking={checking} onCheck={setBefore} error={query.error} />}
    </OnePage>
  );
}

function Shown({
  source,
  checking,
  onCheck,
  error,
}: {
  source: Source;
  checking: Checking;
  onCheck: (before: Source) => void;
  error: unknown;
}) {
  const isAdmin = useIsAdmin();
  const [isDeleting, setDeleting] = useState(false);
  const name = nameOf(source);
  return (
    <Page
      title={name}
      heading={name === source.url ? <Url url={name} /> : name}
      actions={
        isAdmin ? (
          <>
            <CheckNow id={source.id} checking={checking} onCheck={onCheck} />
            <Button look="danger" onPress={() => setDeleting(true)}>
              {t.common.delete}
            </Button>
          </>
        ) : null
      }
    >
      <p>
        <Link to="/sources">{t.sources.back}</Link>
      </p>
      <Failure title={t.failure.loading} error={error} />
      {source.status === 'pending' ? <Notice tone="busy" title={t.sources.importing} /> : null}
      <Warnings warnings={source.warnings} />
      {checking === 'done' && source.status !== 'pending' ? (
        <Notice tone={source.status === 'ok' ? 'good' : 'warn'} title={t.sources.syncDone[source.status]} />
      ) : null}
      <Changes source={source} />
      <Card>
        <SourceFacts source={source} />
        {source.version === null ? null : (
          <p>
            <Link to={`/sources/${source.id}/content`}>{t.sources.readContent}</Link>
          </p>
        )}
      </Card>
      {isDeleting ? <Delete source={source} onClose={() => setDeleting(false)} /> : null}
    </Page>
  );
}

function Delete({ source, onClose }: { source: Source; onClose: () => void }) {
  const { environment, to } = useEnvironment();
  const [, go] = useLocation();
  const { mutate, isPending, error } = useDeleteSource(environment, source.id);
  return (
    <Confirm
      title={t.sources.deleteTitle}
      action={t.sources.deleteAction}
      isPending={isPending}
      error={error}
      onConfirm={() => mutate(undefined, { onSuccess: () => go(to('/sources')) })}
      onClose={onClose}
    >
      <p>
        <strong>
          <bdi>{nameOf(source)}</bdi>
        </strong>
      </p>
      <p>{t.sources.deleteAbout}</p>
    </Confirm>
  );
}
