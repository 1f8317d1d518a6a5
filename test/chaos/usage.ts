import { until } from 'aws-local/test/until.ts';
import type { ApiClient } from '../support/api.ts';
import type { Row } from '../support/tables.ts';

/** A message whose function was killed while it counted becomes visible again after three minutes. */
const PATIENCE_MS = 600_000;

/** The usage of the live organization compared with its rows. */
export interface UsageOutcome {
  conversations: number;
  messages: number;
  /** Conversations and messages that were not counted, or counted more than once. */
  differs: number;
  /** Rows of the sandbox in the table of usage. */
  ofSandbox: number;
}

/**
 * Waits until usage equals the stored rows: a request without an answer may have been recorded, and counts
 * then.
 * @param admin with the session of the live organization's admin
 * @param rows gives those of all tables, after the load
 * @param complain called when the two stay different
 */
export async function usageOutcome(
  { live, sandbox }: { live: string; sandbox: string },
  admin: ApiClient,
  rows: () => Promise<readonly Row[]>,
  complain: (error: unknown) => void,
): Promise<UsageOutcome> {
  const stored = await rows();
  const of = (prefix: string) =>
    stored.filter(
      ({ item: { pk, sk } }) => String(pk).startsWith(`${live}#`) && String(sk).startsWith(prefix),
    ).length;
  const expected = { conversations: of('cnv_'), messages: of('msg_') };
  const difference = (usage: typeof expected) =>
    Math.abs(usage.conversations - expected.conversations) + Math.abs(usage.messages - expected.messages);
  await until(
    'usage to be counted',
    async () => difference(await shown(admin)) === 0,
    PATIENCE_MS,
    1000,
  ).catch(complain);
  const usage = await shown(admin);
  const billed = (await rows()).filter(({ table }) => table.includes('Usage'));
  return {
    ...usage,
    differs: difference(usage),
    ofSandbox: billed.filter(({ item: { pk } }) => String(pk).startsWith(sandbox)).length,
  };
}

/** All items that the API lists. */
async function shown(admin: ApiClient): Promise<{ conversations: number; messages: number }> {
  const { body } = await admin.get('/api/settings/usage?months=24');
  const sum = { conversations: 0, messages: 0 };
  for (const { conversations, messages } of Object(body.data).months) {
    sum.conversations += Number(conversations);
    sum.messages += Number(messages);
  }
  return sum;
}
