import { useState } from 'react';
import { useLocation } from 'wouter';
import { ApiFailure } from '../../api/failures.ts';
import { type Source, useDeleteSource, useSource } from '../../api/sources.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Link } from '../../parts/link.tsx';
import { Empty, Failure, Loading, Notice } from '../../parts/notice.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { Url } from '../../parts/url.tsx';
import { t } from '../../text/language.ts';
import { isNoSandbox, NoSandbox } from '../no-sandbox.tsx';
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
  const { data: source, error, refetch } = useSource(environment, id, isChecked);
  const checking = checkingOf(before, source);
  if (isChecked !== (checking === 'in progress')) setChecked(checking === 'in progress');
  if (isNoSandbox(error)) return <NoSandbox title={t.sources.title} />;
  if (source !== undefined)
    return <Shown source={source} checking={checking} onCheck={setBefore} error={error} />;
  return (
    <Page title={t.sources.title}>
      <Back />
      {error === null ? <Loading /> : null}
      {isGone(error) ? <Empty title={t.sources.gone} /> : null}
      {error !== null && !isGone(error) ? (
        <Failure title={t.failure.loading} error={error} onRetry={() => void refetch()} />
      ) : null}
    </Page>
  );
}

const isGone = (error: unknown): boolean => error instanceof ApiFailure && error.type === 'NOT_FOUND';

const Back = () => {
  return (
    <p>
      <Link to="/sources">{t.sources.back}</Link>
    </p>
  );
};

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
      <Back />
      {error ? <Failure title={t.failure.loading} error={error} /> : null}
      {source.status === 'pending' ? <Notice tone="busy" title={t.sources.importing} /> : null}
      {source.warnings.length === 0 ? null : (
        <Notice tone="warn" title={t.sources.warnings}>
          <Warnings warnings={source.warnings} />
        </Notice>
      )}
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
