import { useMemo } from 'react';
import { Link } from 'wouter';
import type { AuditActor, AuditEntry } from '../../api/audit-log.ts';
import type { Environment } from '../../api/client.ts';
import { useKeys, useOrganization } from '../../api/organization.ts';
import { useEndpoints } from '../../api/webhooks.ts';
import { useNow } from '../../app/now.ts';
import { Button } from '../../parts/button.tsx';
import { CopyId } from '../../parts/copy.tsx';
import { masked } from '../../parts/masked.ts';
import { Facts, Table } from '../../parts/page.tsx';
import { Moment } from '../../parts/time.tsx';
import { Shortened, Url } from '../../parts/url.tsx';
import { language, t } from '../../text/language.ts';
import styles from './audit-log.module.css';
import { daysBefore, daysOf } from './filters.ts';
import { nameOfTarget, pathOfTarget } from './targets.ts';

/** Entries under their days. Each opens what changed. */
export function Entries({
  entries,
  environment,
  onActor,
}: {
  entries: readonly AuditEntry[];
  environment: Environment;
  onActor: (actor: string) => void;
}) {
  const dayOf = useDayName();
  const names = useNames(environment);
  const time = new Intl.DateTimeFormat(language, { timeStyle: 'medium' });
  return daysOf(entries).map(({ at, items }) => (
    <section key={at} className={styles.day}>
      <h2 className={styles.date}>{dayOf(at)}</h2>
      <ol className={styles.entries}>
        {items.map((entry) => (
          <li key={entry.id}>
            <details className={styles.entry}>
              <summary className={styles.row}>
                <time className={styles.time} dateTime={entry.createdAt}>
                  {time.format(new Date(entry.createdAt))}
                </time>
                <Summary entry={entry} names={names} />
              </summary>
              <Details entry={entry} environment={environment} names={names} onActor={onActor} />
            </details>
          </li>
        ))}
      </ol>
    </section>
  ));
}

function Summary({ entry, names }: { entry: AuditEntry; names: ReadonlyMap<string, string> }) {
  const { action, actor } = entry;
  const actions: Readonly<Record<string, string>> = t.audit.actions;
  return (
    <>
      <span className={styles.action}>{actions[action] ?? action}</span>
      <span className={styles.target}>
        <TargetName entry={entry} names={names} />
      </span>
      <span className={styles.actor}>
        <ActorName actor={actor} names={names} />
      </span>
    </>
  );
}

/** URLs and identifiers differ at their end, so they lose their middle. */
function TargetName({ entry, names }: { entry: AuditEntry; names: ReadonlyMap<string, string> }) {
  const name = nameOfTarget(entry, names);
  if (name === entry.target.id) return <Shortened text={name} />;
  return name.startsWith('https://') ? <Url url={name} /> : <bdi>{name}</bdi>;
}

/** The name of a day: today and yesterday by name, others by date. */
function useDayName(): (at: string) => string {
  const now = useNow();
  const date = new Intl.DateTimeFormat(language, { dateStyle: 'full' });
  return (at) => {
    const written = date.format(new Date(at));
    const days = daysBefore(at, now);
    if (days === 0) return t.audit.today(written);
    return days === 1 ? t.audit.yesterday(written) : written;
  };
}

function Details({
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
  return <code>{masked(String(value))}</code>;
}

/** Present names of what entries are about, by identifier, as far as they are loaded. */
function useNames(environment: Environment): ReadonlyMap<string, string> {
  const { data: endpoints } = useEndpoints(environment);
  const { data: keys } = useKeys();
  const { data: organization } = useOrganization();
  return useMemo(
    () =>
      new Map([
        ...(endpoints ?? []).map(({ id, url }) => [id, url] as const),
        ...(keys?.pages ?? []).flatMap(({ data }) => data.map(({ id, name }) => [id, name] as const)),
        ...(organization === undefined ? [] : [[organization.id, organization.name] as const]),
      ]),
    [endpoints, keys, organization],
  );
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** Who made a change, as short as it gets. @param names of API keys by identifier */
function ActorName({
  actor: { type, id, email },
  names = NO_NAMES,
}: {
  actor: AuditActor;
  names?: ReadonlyMap<string, string>;
}) {
  if (type === 'user') return <bdi>{email ?? id ?? t.audit.actorTypes.user}</bdi>;
  if (type !== 'api_key') return t.audit.byActor[type];
  const name = names.get(id ?? '');
  return name === undefined ? t.audit.byKey : t.audit.byNamedKey(name);
}
