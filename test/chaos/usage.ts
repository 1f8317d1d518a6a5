import { until } from 'aws-local/test/until.ts';
import type { ApiClient } from '../support/api.ts';
import type { Row } from '../support/tables.ts';

/** A message that was being counted when its function was killed comes again after three minutes. */
const PATIENCE_MS = 600_000;

/** What was metered of the live organization, and what there is of it. */
export interface UsageOutcome {
  conversations: number;
  messages: number;
  /** Conversations and messages that were counted not at all or more than once, in sum. */
  differs: number;
  /** Rows of the sandbox in the table of usage. */
  ofSandbox: number;
}

/**
 * Waits until usage says what is stored, and holds it against that: a request without an answer may have been
 * recorded, and counts then.
 * @param admin with the session of the live organization's admin
 * @param rows gives those of all tables, after the load
 * @param complain is told when it does not come to that
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

/** All that the API shows. */
async function shown(admin: ApiClient): Promise<{ conversations: number; messages: number }> {
  const { body } = await admin.get('/api/settings/usage?months=24');
  const sum = { conversations: 0, messages: 0 };
  for (const { conversations, messages } of Object(body.data).months) {
    sum.conversations += Number(conversations);
    sum.messages += Number(messages);
  }
  return sum;
}
