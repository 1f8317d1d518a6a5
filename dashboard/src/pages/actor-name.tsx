import type { AuditActor } from '../api/audit-log.ts';
import { useTexts } from '../text/language.ts';

/** Who made a change, as short as it gets. */
export function ActorName({ actor: { type, id, email } }: { actor: AuditActor }) {
  const t = useTexts();
  if (type === 'user') return <bdi>{email ?? id ?? t.audit.actorTypes.user}</bdi>;
  if (type === 'api_key') return t.audit.byKey;
  return t.audit.byActor[type];
}
