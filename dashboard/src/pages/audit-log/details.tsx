import { Link } from 'wouter';
import type { AuditEntry } from '../../api/audit-log.ts';
import type { Environment } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { CopyId } from '../../parts/copy.tsx';
import { Facts, Table } from '../../parts/page.tsx';
import { Moment } from '../../parts/time.tsx';
import { t } from '../../text/language.ts';
import { ActorName } from '../actor-name.tsx';
import styles from './audit-log.module.css';
import { pathOfTarget } from './targets.ts';

/** What an entry changed, who did it, and by which request. */
export function Details({
  entry,
  environment,
  names,
  onActor,
}: {
  entry: AuditEntry;
  environment: Environment;
  names: ReadonlyMap<string, string>;
  onActor: (actor: string) => void;
}) {
  const { changes, requestId, createdAt } = entry;
  return (
    <div className={styles.details}>
      {changes.length === 0 ? (
        <p className="quiet">{t.audit.noChanges}</p>
      ) : (
        <Table
          label={t.common.changes}
          isStacked
          isLandmark={false}
          columns={[t.common.field, t.audit.before, t.audit.after]}
        >
          {changes.map(({ field, before, after }) => (
            <tr key={field}>
              <th scope="row">
                <code>{field}</code>
              </th>
              <td className={styles.value} data-label={t.audit.before}>
                <Value value={before} />
              </td>
              <td className={styles.value} data-label={t.audit.after}>
                <Value value={after} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <Facts
        facts={[
          [t.audit.when, <Moment key="when" at={createdAt} />],
          [t.audit.actor, <Actor key="actor" entry={entry} names={names} onActor={onActor} />],
          [t.audit.target, <Target key="target" entry={entry} environment={environment} />],
          requestId !== null && [
            t.failure.requestId,
            <CopyId key="request" id={requestId} what={t.failure.requestId} />,
          ],
        ]}
      />
    </div>
  );
}

const Actor = ({
  entry: {
    actor,
    actor: { type, id },
  },
  names,
  onActor,
}: {
  entry: AuditEntry;
  names: ReadonlyMap<string, string>;
  onActor: (actor: string) => void;
}) => (
  <span className="row">
    {type === 'api_key' && id !== null ? (
      <Link href={`/api-keys?key=${id}`}>
        <ActorName actor={actor} names={names} />
      </Link>
    ) : (
      <ActorName actor={actor} names={names} />
    )}
    {id === null ? null : (
      <Button look="plain" onPress={() => onActor(id)}>
        {t.audit.onlyThisActor}
      </Button>
    )}
  </span>
);

function Target({ entry, environment }: { entry: AuditEntry; environment: Environment }) {
  const { id } = entry.target;
  const path = pathOfTarget(entry, environment);
  return path === undefined ? (
    <code>{id}</code>
  ) : (
    <Link href={path}>
      <code>{id}</code>
    </Link>
  );
}

/** A value as the API has it: nothing, one, or several. */
function Value({ value }: { value: AuditEntry['changes'][number]['before'] }) {
  if (value === null) return <span className="quiet">{t.audit.noValue}</span>;
  if (Array.isArray(value))
    return (
      <ul>
        {value.map((each) => (
          <li key={each}>
            <code>{each}</code>
          </li>
        ))}
      </ul>
    );
  return <code>{String(value)}</code>;
}
