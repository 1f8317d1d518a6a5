import { expect, it } from 'vitest';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import { idempotencyStore } from '../../../functions/http/idempotency.ts';
import { apiKeyStore } from '../../../functions/tenancy/api-keys.ts';
import { anApiKey, aTenant, NOW } from '../../builders.ts';
import { sharedMemoryTables } from '../../doubles/tables/stack-tables.ts';

type Tables = ReturnType<ReturnType<typeof sharedMemoryTables>>;

/*
 * Reads that must see the latest write. No engine on one machine can disprove that they do, because none
 * returns an older row.
 */
it.each<[string, (tables: Tables) => Promise<unknown>]>([
  [
    'an API key, so that its revocation applies to the next request',
    ({ service }) => apiKeyStore(service).find('d'),
  ],
  ['a listed API key', ({ service }) => apiKeyStore(service).revoke(aTenant().orgId, anApiKey().id, NOW)],
  [
    'an idempotent answer',
    ({ service }) =>
      idempotencyStore(service).find({ tenant: aTenant(), route: 'create-thing', key: 'k' }, NOW),
  ],
  ['an outbox entry', ({ outbox }) => outboxStore(outbox).find({ pk: 'a partition', sk: 'an entry' })],
])('%s is read consistently', async (_, read) => {
  const reads: unknown[] = [];
  const tables = sharedMemoryTables()(async (_operation, { ConsistentRead }, answer) => {
    reads.push(ConsistentRead);
    return answer();
  });
  await read(tables);
  expect(reads).toEqual([true]);
});
