import { type ApiKey, useRevokeKey } from '../../api/keys.ts';
import { useNow } from '../../app/now.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Ago } from '../../parts/time.tsx';
import { t } from '../../text/language.ts';
import { isInUse } from './scopes.ts';

/** Asks whether a key is to be revoked, with a word of warning when a program still uses it. */
export function Revoke({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const now = useNow();
  const { mutate, isPending, error } = useRevokeKey(apiKey.id);
  const { lastUsedAt } = apiKey;
  const used = lastUsedAt === null ? null : <Ago at={lastUsedAt} />;
  return (
    <Confirm
      title={t.keys.revokeTitle}
      action={t.keys.revokeAction}
      isPending={isPending}
      error={error}
      onConfirm={() => mutate(undefined, { onSuccess: onClose })}
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
