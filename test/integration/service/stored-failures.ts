import { expect } from 'vitest';
import { AT_RISK_SECONDS } from '../../../functions/domain/failure-streak.ts';
import type { Service } from '../../support/service.ts';

const HOUR_SECONDS = 3600;

/**
 * Changes an active endpoint as if its last deliveries had failed an hour ago. Real failures take eight
 * attempts each, and the first ones wait until every worker knows the endpoint's risk.
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
    atRiskUntil: new Date(now + (AT_RISK_SECONDS - HOUR_SECONDS) * 1000).toISOString(),
  };
  await rewrite({ ...row, item: { ...row.item, ...failures } });
}
