import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startReceiver } from '../../../lib/local/receiver/receiver.ts';
import { childrenOf } from '../../chaos/killer.ts';
import { apiClient } from '../../support/api.ts';
import { type LocalRun, startLocalRun, temporaryDirectory } from '../../support/local-run.ts';
import { type TablesBehind, tablesBehind } from '../../support/tables.ts';
import { until } from '../../support/until.ts';

const MESSAGES = 300;

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let run: LocalRun;

// A short deadline makes short leases, so that what a killed worker held comes back soon; a message counts as lost after the shortest grace.
const settings = { ATTEMPT_TIMEOUT_SECONDS: '1', GRACE_SECONDS: '30' };

beforeAll(async () => {
  directory = await temporaryDirectory();
  run = await startLocalRun(directory.path, settings);
}, 120_000);

afterAll(async () => {
  await run?.interrupt();
  await directory?.remove();
});

it('delivers every accepted message although everything is killed in the middle', async () => {
  const copies = new Map<string, number>();
  const seen = new Set<string>();
  const receiver = await startReceiver({
    ...run.tls,
    onDelivery: ({ body, headers }) => {
      seen.add(JSON.parse(body.toString()).data.messageId);
      const delivery = String(headers['webhook-id']);
      copies.set(delivery, (copies.get(delivery) ?? 0) + 1);
    },
  });
  const before = apiClient(run.environment, 8);
  const { id } = await before.register(receiver.url, ['message.received']);
  const conversation = await before.createConversation();

  const accepted = new Set<string>();
  let next = 0;
  const lane = async () => {
    while (next++ < MESSAGES) {
      const path = `/api/v1/conversations/${conversation}/messages`;
      // After the kill nothing answers, and what was not answered is not owed.
      const answer = await before.post(path, { role: 'user', content: 'hello' }).catch(() => undefined);
      if (answer?.status === 201) accepted.add(String(answer.body.data?.id));
    }
  };
  const posting = Promise.all(Array.from({ length: 8 }, lane));
  await until('a third of the deliveries', () => seen.size > MESSAGES / 3);
  await run.kill();
  await posting;
  before.close();
  expect(accepted.size).toBeGreaterThanOrEqual(MESSAGES / 3);

  run = await startLocalRun(directory.path, settings);
  const after = apiClient(run.environment);
  await until('every accepted message', () => [...accepted].every((message) => seen.has(message)));
  const deliveries = await until('every delivery to succeed', async () => {
    const all = await after.all(`/api/v1/webhooks/${id}/deliveries`);
    return all.every(({ status }) => status === 'succeeded') && all;
  });
  expect(deliveries.length).toBeGreaterThanOrEqual(accepted.size);
  // Sent twice can only be what was under way: its second attempt was counted.
  const attempts = new Map(deliveries.map((delivery) => [String(delivery.id), Number(delivery.attempts)]));
  for (const [delivery, times] of copies) expect(times).toBeLessThanOrEqual(attempts.get(delivery) ?? 0);
  after.close();
  await receiver.stop();
}, 180_000);

it('ends a redelivery of all that failed although everything is killed in the middle and all messages are lost', async () => {
  const receiver = await startReceiver(run.tls);
  const before = apiClient(run.environment, 8);
  const { id } = await before.register(receiver.url, ['conversation.resolved']);
  const path = `/api/v1/webhooks/${id}`;
  let next = 0;
  const lane = async () => {
    while (next++ < MESSAGES) await before.post(`${path}/test`);
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  const tables = tablesBehind(childrenOf(run.pid).engine);
  await haveFailed(tables, id);
  const from = new Date(Date.now() - 3_600_000).toISOString();
  const job = String((await before.post(`${path}/redeliveries`, { from })).body.data?.id);
  const stored = async () =>
    (await tables.rows([job])).find(({ item }) => item.sk === job && 'round' in item);
  await until('it to be under way', async () => Number((await stored())?.item.examined) > 0);
  await run.kill();
  before.close();
  expect((await stored())?.item).toMatchObject({ status: 'running' });
  tables.close();
  await loseMessages();

  run = await startLocalRun(directory.path, settings);
  const after = apiClient(run.environment);
  const done = await until(
    'its end',
    async () => {
      const { data } = (await after.get(`${path}/redeliveries/${job}`)).body;
      return data?.status !== 'running' && data;
    },
    150_000,
  );
  expect(done).toMatchObject({ status: 'done', examined: MESSAGES, redelivered: MESSAGES });
  const deliveries = await until('every delivery to end', async () => {
    const all = await after.all(`${path}/deliveries`);
    return all.every(({ terminalAt }) => terminalAt !== null) && all;
  });
  const made = deliveries.filter(({ redeliveryOf }) => redeliveryOf !== null);
  expect(deliveries).toHaveLength(2 * MESSAGES);
  expect(new Set(made.map(({ eventId }) => eventId)).size).toBe(MESSAGES);
  expect(made.every(({ status }) => status === 'succeeded')).toBe(true);
  after.close();
  await receiver.stop();
}, 300_000);

/** The local run keeps them on disk, where they outlive it. */
async function loseMessages(): Promise<void> {
  const state = join(directory.path, 'state');
  const files = (await readdir(state)).filter((name) => name.startsWith('fauxqs.db'));
  expect(files).not.toEqual([]);
  for (const name of files) await rm(join(state, name));
}

/** Waits until an endpoint has all its deliveries, and stores them as if all their attempts had failed. */
async function haveFailed({ rows, rewrite }: TablesBehind, endpoint: string): Promise<void> {
  const found = await until('the deliveries to succeed', async () => {
    const all = (await rows([endpoint])).filter(({ item }) => String(item.sk).startsWith('dlv_'));
    return all.length === MESSAGES && all.every(({ item }) => item.status === 'succeeded') && all;
  });
  for (const { table, item } of found)
    await rewrite({ table, item: { ...item, status: 'exhausted', terminalReason: 'max_attempts' } });
}
