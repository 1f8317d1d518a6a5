import { useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { type ApiKey, useKeys } from '../../api/keys.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button } from '../../parts/button.tsx';
import { Check } from '../../parts/field.tsx';
import { LoadedPage, More } from '../../parts/loaded.tsx';
import { Empty, Notice } from '../../parts/notice.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { t } from '../../text/language.ts';
import { Create } from './create.tsx';
import { KeyTable } from './key-table.tsx';
import { Revoke } from './revoke.tsx';

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
