import { expect } from 'vitest';
import type { Service } from '../../support/service.ts';

const HOUR_SECONDS = 3600;

/**
 * Changes an active endpoint as if its last deliveries had failed an hour ago. Real failures take eight
 * attempts each.
 * @param count of failures in a row
 */
export async function storeFailures(
  { rows, rewrite }: Pick<Service, 'rows' | 'rewrite'>,
  id: string,
  count: number,
): Promise<void> {
  const [row = expect.fail('the endpoint is not stored')] = (await rows([id], 'Service')).filter(
    ({ item }) => item.sk === id,
  );
  const now = Date.now();
  const failures = {
    consecutiveFailures: count,
    failingSince: new Date(now - HOUR_SECONDS * 1000).toISOString(),
  };
  await rewrite({ ...row, item: { ...row.item, ...failures } });
}
