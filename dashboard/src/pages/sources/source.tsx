import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { type Source, useDeleteSource, useSource, useSync } from '../../api/sources.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button } from '../../parts/button.tsx';
import { Code } from '../../parts/code.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { CopyId } from '../../parts/copy.tsx';
import { Link } from '../../parts/link.tsx';
import { OnePage } from '../../parts/loaded.tsx';
import { Failure, Notice } from '../../parts/notice.tsx';
import { Card, Facts, Page } from '../../parts/page.tsx';
import { Moment } from '../../parts/time.tsx';
import { Url } from '../../parts/url.tsx';
import { sourceErrorText } from '../../text/error-text.ts';
import { format, t } from '../../text/language.ts';
import { Changes } from './changes.tsx';
import { Warnings } from './content.tsx';
import { nameOf } from './name.ts';
import { AgoOrNever, Meter, SourceStatus, useThreshold } from './row.tsx';

export function SourcePage({ id }: { id: string }) {
  const { environment } = useEnvironment();
  const [before, setBefore] = useState<Source>();
  const [isChecked, setChecked] = useState(false);
  const query = useSource(environment, id, isChecked);
  const checking = checkingOf(before, query.data);
  if (isChecked !== (checking === 'in progress')) setChecked(checking === 'in progress');
  return (
    <OnePage query={query} title={t.sources.title} gone={t.sources.gone} list={['/sources', t.sources.back]}>
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
  const sending = useDeleteSource(environment, source.id);
  return (
    <Confirm
      title={t.sources.deleteTitle}
      action={t.sources.deleteAction}
      sent={sending}
      onConfirm={() => sending.mutate(undefined, { onSuccess: () => go(to('/sources')) })}
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

function SourceFacts({ source }: { source: Source }) {
  const threshold = useThreshold();
  const { id, url, kind, title, words, version } = source;
  return (
    <>
      <Facts
        facts={[
          [t.common.status, <SourceStatus key="status" status={source.status} />],
          [
            t.sources.url,
            <CopyId key="url" id={url} what={t.sources.url}>
              <Url url={url} />
            </CopyId>,
          ],
          [t.common.kind, t.sources.kindHints[kind]],
          [t.sources.contentTitle, title === null ? t.none : <bdi key="title">{title}</bdi>],
          [t.sources.words, words === null ? t.none : format.number(words)],
          [t.sources.version, version === null ? t.none : format.number(version)],
          [
            t.sources.difference,
            <Meter key="difference" difference={source.difference} threshold={threshold} />,
          ],
          [t.sources.lastChecked, <AgoOrNever key="checked" at={source.lastCheckedAt} />],
          [t.sources.lastChanged, <AgoOrNever key="changed" at={source.lastChangedAt} />],
          [t.sources.lastNotified, <AgoOrNever key="notified" at={source.lastNotifiedAt} />],
          [t.sources.nextCheck, <Moment key="next" at={source.nextCheckAt} />],
          [t.sources.created, <Moment key="created" at={source.createdAt} />],
          [t.common.id, <CopyId key="id" id={id} what={t.common.id} />],
        ]}
      />
      {source.lastError === null ? null : (
        <Code label={t.common.lastError} text={sourceErrorText(source)} isWrapped />
      )}
    </>
  );
}

type Checking = 'not asked' | 'in progress' | 'done';

/** @param before the source as it was when the check was asked for @param now as it is */
function checkingOf(
  before: Pick<Source, 'lastCheckedAt'> | undefined,
  now: Pick<Source, 'lastCheckedAt'> | undefined,
): Checking {
  if (before === undefined) return 'not asked';
  return now !== undefined && now.lastCheckedAt !== before.lastCheckedAt ? 'done' : 'in progress';
}

/** A check usually takes a second, and a minute at most. */
const SLOW_MS = 20_000;

/**
 * Requests a check and shows that it is running.
 * @param onCheck gets the source as it was before
 */
function CheckNow({
  id,
  checking,
  onCheck,
}: {
  id: string;
  checking: Checking;
  onCheck: (before: Source) => void;
}) {
  const { environment } = useEnvironment();
  const { mutate, isPending, error } = useSync(environment, id);
  const isInProgress = isPending || checking === 'in progress';
  const isSlow = useLongerThan(SLOW_MS, checking === 'in progress');
  return (
    <>
      <Button isPending={isInProgress} onPress={() => mutate(undefined, { onSuccess: onCheck })}>
        {isInProgress ? t.sources.syncing : t.sources.sync}
      </Button>
      {isSlow ? (
        <span role="status" className="quiet">
          {t.sources.syncSlow}
        </span>
      ) : null}
      <Failure error={error} />
    </>
  );
}

/** Whether something has been so for longer than that. */
function useLongerThan(ms: number, isSo: boolean): boolean {
  const [isLonger, setLonger] = useState(false);
  useEffect(() => {
    if (!isSo) return;
    const timer = setTimeout(() => setLonger(true), ms);
    return () => {
      clearTimeout(timer);
      setLonger(false);
    };
  }, [ms, isSo]);
  return isLonger;
}
