import { randomUUID } from 'node:crypto';
import { appendFileSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cloud } from 'aws-local/cloud.ts';
import type { UsedPermission } from 'aws-local/functions/functions.ts';

/** Names the directory for the records of services under test. Set while the tests run (global-setup.ts). */
export const RECORDS_VARIABLE = 'PERMISSION_RECORDS';

/** A line of a record. */
export interface PermissionEntry {
  role?: Cloud['roles'][number];
  eventSource?: Cloud['eventSources'][number];
  use?: UsedPermission;
}

/**
 * A record of one service for the test that compares all of them, which reads it while shared services run:
 * each entry is written at once.
 */
export function openRecord(): { add(entry: PermissionEntry): void } {
  const directory = process.env[RECORDS_VARIABLE];
  // Kept open: functions of a shared service call when the directory is deleted, too.
  const file = directory && openSync(join(directory, `${randomUUID()}.jsonl`), 'ax');
  const written = new Set<string>();
  return {
    add(entry) {
      const line = JSON.stringify(entry);
      if (!file || written.has(line)) return;
      written.add(line);
      appendFileSync(file, `${line}\n`);
    },
  };
}

/**
 * The entries of all services.
 * @throws Error when no service has left one
 */
export function readRecords(): PermissionEntry[] {
  const directory = process.env[RECORDS_VARIABLE] ?? '';
  const records = directory === '' ? [] : readdirSync(directory);
  if (records.length === 0)
    throw new Error('the integration tests leave what functions do: run them with this test');
  return records.flatMap((file) =>
    readFileSync(join(directory, file), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line)),
  );
}

/** @throws Error naming each call that a role did not allow, even if the function handled the error */
export function refuseDenied(used: readonly UsedPermission[]): void {
  const denied = used
    .filter(({ isAllowed }) => !isAllowed)
    .map(({ functionName, action, resource }) => `${functionName} may not ${action} on ${resource}`);
  if (denied.length > 0) throw new Error([...new Set(denied)].sort().join('\n'));
}
