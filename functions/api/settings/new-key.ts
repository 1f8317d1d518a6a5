import type { ApiKey } from '../../domain/api-key.ts';
import { compareFields } from '../../domain/audit.ts';

/** What the audit log shows of a new key. */
export const describeNewKey = (key: ApiKey) => ({
  id: key.id,
  changes: compareFields(['name', 'environment', 'scopes'], undefined, key),
});
