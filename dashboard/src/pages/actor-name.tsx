import type { AuditActor } from '../api/audit-log.ts';
import { t } from '../text/language.ts';

const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** Who made a change, as short as it gets. @param names of API keys by identifier */
export function ActorName({
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
