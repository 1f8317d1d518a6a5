import type { AuditEntry } from '../../api/audit-log.ts';
import type { Environment } from '../../api/client.ts';
import { useNow } from '../../app/now.ts';
import { Shortened, Url } from '../../parts/url.tsx';
import { language, t } from '../../text/language.ts';
import { ActorName } from '../actor-name.tsx';
import styles from './audit-log.module.css';
import { daysBefore, daysOf } from './days.ts';
import { Details } from './details.tsx';
import { useNames } from './names.ts';
import { nameOfTarget } from './targets.ts';

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
  const time = new Intl.DateTimeFormat(language, { timeStyle: 'short' });
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
