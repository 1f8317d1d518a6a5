import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cloud } from 'aws-local/cloud.ts';
import type { UsedPermission } from 'aws-local/functions/functions.ts';

/** Names the directory for the records of services under test. Set while the tests run (global-setup.ts). */
export const RECORDS_VARIABLE = 'PERMISSION_RECORDS';

/** The permissions and the calls of the functions of one service. */
export interface PermissionRecord {
  roles: Cloud['roles'];
  eventSources: Cloud['eventSources'];
  used: UsedPermission[];
}

/** Writes the record for the test that compares all of them. */
export function writeRecord(record: PermissionRecord): void {
  const directory = process.env[RECORDS_VARIABLE];
  if (directory !== undefined) writeFileSync(join(directory, `${randomUUID()}.json`), JSON.stringify(record));
}

/** @throws Error when no service has left one */
export function readRecords(): PermissionRecord[] {
  const directory = process.env[RECORDS_VARIABLE] ?? '';
  const records = directory === '' ? [] : readdirSync(directory);
  if (records.length === 0)
    throw new Error('the integration tests leave what functions do: run them with this test');
  return records.map((file) => JSON.parse(readFileSync(join(directory, file), 'utf8')));
}

/** @throws Error naming each call that a role did not allow, even if the function handled the error */
export function refuseDenied(used: readonly UsedPermission[]): void {
  const denied = used
    .filter(({ isAllowed }) => !isAllowed)
    .map(({ functionName, action, resource }) => `${functionName} may not ${action} on ${resource}`);
  if (denied.length > 0) throw new Error([...new Set(denied)].sort().join('\n'));
}
