import { useEffect, useRef } from 'react';
import { type AuditActor, useKeyCreators } from '../../api/audit-log.ts';
import type { ApiKey } from '../../api/organization.ts';
import { Button } from '../../parts/button.tsx';
import { CopyId } from '../../parts/copy.tsx';
import { Table } from '../../parts/page.tsx';
import { Status } from '../../parts/status.tsx';
import { Ago } from '../../parts/time.tsx';
import { t } from '../../text/language.ts';
import styles from './api-keys.module.css';
import { SCOPES } from './scopes.ts';

export function KeyTable({
  keys,
  marked,
  onRevoke,
}: {
  keys: readonly ApiKey[];
  /** Identifier of the key that the address names. */
  marked: string | null;
  onRevoke: (key: ApiKey) => void;
}) {
  const { data: creators } = useKeyCreators(keys.map(({ id }) => id));
  return (
    <Table
      label={t.keys.title}
      isStacked="early"
      columns={[
        ...[
          t.common.name,
          t.keys.environment,
          t.keys.scopes,
          t.common.created,
          t.keys.lastUsed,
          t.keys.actions,
        ],
      ]}
    >
      {keys.map((key) => (
        <KeyRow
          key={key.id}
          apiKey={key}
          creator={creators && (creators.get(key.id) ?? null)}
          isMarked={key.id === marked}
          onRevoke={() => onRevoke(key)}
        />
      ))}
    </Table>
  );
}

function KeyRow({
  apiKey,
  creator,
  isMarked,
  onRevoke,
}: {
  apiKey: ApiKey;
  /** Null where it is not recorded, undefined until it is known. */
  creator: AuditActor | null | undefined;
  isMarked: boolean;
  onRevoke: () => void;
}) {
  const row = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (isMarked) row.current?.scrollIntoView({ block: 'center' });
  }, [isMarked]);
  const { id, name, environment, scopes, createdAt, lastUsedAt, revokedAt } = apiKey;
  return (
    <tr ref={row} className={isMarked ? styles.marked : ''} aria-current={isMarked ? 'true' : undefined}>
      <th scope="row">
        <span className={styles.name}>
          <bdi>{name}</bdi>
          <span className={styles.id}>
            <CopyId id={id} what={t.keys.id} />
          </span>
        </span>
      </th>
      <td className={styles.short} data-label={t.keys.environment}>
        <span className={environment === 'sandbox' ? styles.sandbox : ''}>{t.environment[environment]}</span>
      </td>
      <td data-label={t.keys.scopes}>
        {scopes.length === SCOPES.length ? (
          t.keys.fullAccess
        ) : (
          <ul className={styles.scopes}>
            {scopes.map((scope) => (
              <li key={scope} title={scope}>
                {t.scopes[scope].name}
              </li>
            ))}
          </ul>
        )}
      </td>
      <td data-label={t.common.created}>
        <span className={styles.created}>
          <Ago at={createdAt} />
          {/* Its place is kept, so that nothing moves when the creators are known. */}
          <span className="quiet">{creator === undefined ? '\u00a0' : <Creator creator={creator} />}</span>
        </span>
      </td>
      <td className={styles.short} data-label={t.keys.lastUsed}>
        {lastUsedAt === null ? <span className="quiet">{t.keys.never}</span> : <Ago at={lastUsedAt} />}
      </td>
      <td className={styles.short}>
        {revokedAt === null ? (
          <Button look="plain" aria-label={t.keys.revokeOf(name)} onPress={onRevoke}>
            {t.keys.revoke}
          </Button>
        ) : (
          <>
            <Status tone="idle">{t.keys.revoked}</Status> <Ago at={revokedAt} />
          </>
        )}
      </td>
    </tr>
  );
}

/** Who created a key, in the words that follow a time. */
function Creator({ creator }: { creator: AuditActor | null }) {
  if (creator === null) return t.keyCreator.unknown;
  const { type, id, email } = creator;
  if (type !== 'user') return t.keyCreator.byOthers[type];
  return (
    <>
      {t.keyCreator.by} <bdi>{email ?? id ?? t.audit.actorTypes.user}</bdi>
    </>
  );
}
