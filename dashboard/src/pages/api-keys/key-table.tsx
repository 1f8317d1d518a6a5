import { useEffect, useRef } from 'react';
import type { ApiKey } from '../../api/keys.ts';
import { Button } from '../../parts/button.tsx';
import { Table } from '../../parts/page.tsx';
import { Status } from '../../parts/status.tsx';
import { Ago } from '../../parts/time.tsx';
import { useTexts } from '../../text/language.ts';
import styles from './api-keys.module.css';

/** Keys, one in each row. @param marked the one that was searched for */
export function KeyTable({
  keys,
  marked,
  onRevoke,
}: {
  keys: readonly ApiKey[];
  marked: string | undefined;
  onRevoke: (key: ApiKey) => void;
}) {
  const t = useTexts();
  return (
    <Table
      label={t.keys.list}
      isStacked
      head={
        <tr>
          <th scope="col">{t.keys.name}</th>
          <th scope="col">{t.keys.environment}</th>
          <th scope="col">{t.keys.scopes}</th>
          <th scope="col">{t.keys.created}</th>
          <th scope="col">{t.keys.lastUsed}</th>
          <th scope="col">{t.keys.actions}</th>
        </tr>
      }
    >
      {keys.map((key) => (
        <KeyRow key={key.id} apiKey={key} isMarked={key.id === marked} onRevoke={() => onRevoke(key)} />
      ))}
    </Table>
  );
}

function KeyRow({ apiKey, isMarked, onRevoke }: { apiKey: ApiKey; isMarked: boolean; onRevoke: () => void }) {
  const t = useTexts();
  const row = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (isMarked) row.current?.scrollIntoView({ block: 'center' });
  }, [isMarked]);
  const { id, name, environment, scopes, createdAt, lastUsedAt, revokedAt } = apiKey;
  return (
    <tr ref={row} {...(isMarked ? { 'aria-current': true, className: styles.marked } : {})}>
      <th scope="row">
        <span className={styles.name}>
          <bdi>{name}</bdi>
          <code className={styles.id}>{id}</code>
        </span>
      </th>
      <td className={styles.short} data-label={t.keys.environment}>
        <span className={environment === 'sandbox' ? styles.sandbox : ''}>{t.environment[environment]}</span>
      </td>
      <td data-label={t.keys.scopes}>
        <ul className={styles.scopes}>
          {scopes.map((scope) => (
            <li key={scope}>
              <code>{scope}</code>
            </li>
          ))}
        </ul>
      </td>
      <td className={styles.short} data-label={t.keys.created}>
        <Ago at={createdAt} />
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
