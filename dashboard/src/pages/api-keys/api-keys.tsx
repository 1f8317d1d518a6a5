import { useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { type ApiKey, useCreateKey, useKeys, useRevokeKey } from '../../api/organization.ts';
import { useNow } from '../../app/now.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button } from '../../parts/button.tsx';
import { Check } from '../../parts/check.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { LoadedPage, More } from '../../parts/loaded.tsx';
import { Empty, Notice } from '../../parts/notice.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { Ago } from '../../parts/time.tsx';
import { t } from '../../text/language.ts';
import { KeyDialog } from './key-form.tsx';
import { KeyTable } from './key-table.tsx';
import { isInUse } from './scopes.ts';

/** API keys. The API shows them to admins only, so members see a note without a request. */
export default function ApiKeys() {
  return useIsAdmin() ? (
    <Keys />
  ) : (
    <Page title={t.keys.title} about={t.keys.about}>
      <Empty title={t.keys.adminsTitle}>
        <p>{t.keys.adminsAbout}</p>
      </Empty>
    </Page>
  );
}

function Keys() {
  const [isCreating, setCreating] = useState(false);
  const [revoked, setRevoked] = useState<ApiKey>();
  return (
    <LoadedPage
      title={t.keys.title}
      about={t.keys.about}
      query={useKeys()}
      actions={
        <Button look="primary" onPress={() => setCreating(true)}>
          {t.keys.create}
        </Button>
      }
    >
      {() => (
        <>
          <KeyList onRevoke={setRevoked} />
          {isCreating ? <Create onClose={() => setCreating(false)} /> : null}
          {revoked === undefined ? null : <Revoke apiKey={revoked} onClose={() => setRevoked(undefined)} />}
        </>
      )}
    </LoadedPage>
  );
}

function KeyList({ onRevoke }: { onRevoke: (key: ApiKey) => void }) {
  const [search] = useSearchParams();
  const marked = search.get('key');
  const [choice, setShowsRevoked] = useState<boolean>();
  const query = useKeys();
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const keys = data?.pages.flatMap((page) => page.data) ?? [];
  const markedKey = keys.find(({ id }) => id === marked);
  const showsRevoked = choice ?? (markedKey?.revokedAt ?? null) !== null;
  // The key of the address may be on a later page.
  const searches = marked !== null && markedKey === undefined && hasNextPage && !isFetchingNextPage;
  useEffect(() => {
    if (searches) void fetchNextPage();
  }, [searches, fetchNextPage]);
  const revoked = keys.filter(({ revokedAt }) => revokedAt !== null);
  const shown = showsRevoked ? keys : keys.filter(({ revokedAt }) => revokedAt === null);
  if (keys.length === 0)
    return (
      <Empty title={t.keys.emptyTitle}>
        <p>{t.keys.emptyAbout}</p>
      </Empty>
    );
  return (
    <Card>
      {marked !== null && markedKey === undefined && !hasNextPage ? (
        <Notice tone="warn" title={t.keyCreator.gone} />
      ) : null}
      {shown.length === 0 ? (
        <p className="quiet">{t.keys.allRevoked}</p>
      ) : (
        <KeyTable keys={shown} marked={marked} onRevoke={onRevoke} />
      )}
      {revoked.length === 0 ? null : (
        <Check isSelected={showsRevoked} onChange={setShowsRevoked}>
          {t.keys.showRevoked(revoked.length)}
        </Check>
      )}
      <More query={query} />
      <p className="quiet">{t.keys.lastUsedAbout}</p>
    </Card>
  );
}

function Create({ onClose }: { onClose: () => void }) {
  const create = useCreateKey();
  return (
    <KeyDialog
      title={t.keys.create}
      about={t.keys.liveAbout}
      action={t.keys.create}
      secret={create.data?.secretOnce}
      sent={create}
      onSubmit={(terms) => create.mutate(terms)}
      onClose={onClose}
    />
  );
}

/** Asks whether a key is to be revoked, with a word of warning when a program still uses it. */
function Revoke({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const now = useNow();
  const sending = useRevokeKey(apiKey.id);
  const { lastUsedAt } = apiKey;
  const used = lastUsedAt === null ? null : <Ago at={lastUsedAt} />;
  return (
    <Confirm
      title={t.keys.revokeTitle}
      action={t.keys.revokeAction}
      sent={sending}
      onConfirm={() => sending.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>
        <strong>
          <bdi>{apiKey.name}</bdi>
        </strong>
      </p>
      <p>{t.keys.revokeAbout}</p>
      {isInUse(lastUsedAt, now) ? (
        <Notice tone="warn" title={t.keys.inUse}>
          <p>
            {t.keys.usedLast} {used}.
          </p>
        </Notice>
      ) : (
        <p className="quiet">
          {used === null ? (
            t.keys.neverUsed
          ) : (
            <>
              {t.keys.usedLast} {used}.
            </>
          )}
        </p>
      )}
    </Confirm>
  );
}
