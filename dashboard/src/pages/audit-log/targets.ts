import type { AuditEntry } from '../../api/audit-log.ts';
import type { Environment } from '../../api/client.ts';
import { pageOf } from '../../api/receivers.ts';
import { pathIn } from '../../app/environment.ts';

/** The page of what an entry is about; undefined where there is none, or not any more. */
export function pathOfTarget(
  { action, target: { type, id }, changes }: AuditEntry,
  environment: Environment,
): string | undefined {
  if (action.endsWith('.deleted')) return undefined;
  switch (type) {
    case 'webhook':
      return pathIn(environment, `/endpoints/${id}`);
    case 'channel':
      return pathIn(environment, `/channels/${id}`);
    case 'source':
      return pathIn(environment, `/sources/${id}`);
    case 'redelivery': {
      const receiver = changes.find(({ field }) => field === 'webhookId' || field === 'channelId')?.after;
      return typeof receiver === 'string' ? pathIn(environment, pageOf(receiver)) : undefined;
    }
    case 'api_key':
      return `/api-keys?key=${id}`;
    case 'organization':
      return '/settings';
    case 'sandbox':
      return '/sandbox';
    default:
      // What is added later.
      return undefined;
  }
}

/**
 * What the entry's thing is called: its URL or name where the entry has one, else its present one.
 * @param names by identifier, as far as they are known
 */
export function nameOfTarget(
  { target, changes }: Pick<AuditEntry, 'target' | 'changes'>,
  names: ReadonlyMap<string, string>,
): string {
  for (const name of ['name', 'url']) {
    const change = changes.find(({ field }) => field === name);
    const value = change?.after ?? change?.before;
    if (typeof value === 'string') return value;
  }
  return names.get(target.id) ?? target.id;
}
