import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from 'aws-local/test/until.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startReceiver } from '../../../lib/cli/receiver/receiver.ts';
import { childrenOf } from '../../chaos/killer.ts';
import { type ApiClient, apiClient } from '../../support/api.ts';
import { type LocalRun, startLocalRun, temporaryDirectory } from '../../support/local-run.ts';
import { type Row, type TablesBehind, tablesBehind } from '../../support/tables.ts';

const MESSAGES = 300;
/** More than a job takes at once, which are 25 of each of eight shards (functions/workers/redeliver.ts). */
const FAILED = 8 * 25 + 1;

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let run: LocalRun;

const settings = {
  // A short deadline makes short leases, so that what a killed worker held comes back soon.
  ATTEMPT_TIMEOUT_SECONDS: '3',
  // On a busy machine a receiver may miss the deadline more than once.
  RETRY_BASE_SECONDS: '0.5',
  RETRY_CAP_SECONDS: '2',
  // The shortest after which a message counts as lost.
  GRACE_SECONDS: '30',
};
/** From a kill until what was lost with it is sent again: the grace, a run of the reconciler, and the attempts. */
const RECOVERY_MS = 150_000;

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
  await until(
    'every accepted message',
    () => [...accepted].every((message) => seen.has(message)),
    RECOVERY_MS,
  );
  const deliveries = await until(
    'every delivery to succeed',
    async () => {
      const all = await after.all(`/api/v1/webhooks/${id}/deliveries`);
      return all.every(({ status }) => status === 'succeeded') && all;
    },
    RECOVERY_MS,
  );
  expect(deliveries.length).toBeGreaterThanOrEqual(accepted.size);
  // Sent twice can only be what was under way: its second attempt was counted.
  const attempts = new Map(deliveries.map((delivery) => [String(delivery.id), Number(delivery.attempts)]));
  for (const [delivery, times] of copies) expect(times).toBeLessThanOrEqual(attempts.get(delivery) ?? 0);
  after.close();
  await receiver.stop();
}, 400_000);

it('ends a redelivery of all that failed although everything is killed in the middle and all messages are lost', async () => {
  const receiver = await startReceiver(run.tls);
  const before = apiClient(run.environment, 8);
  const { id } = await before.register(receiver.url, ['conversation.resolved']);
  const path = `/api/v1/webhooks/${id}`;
  const jobIn = async (api: ApiClient, job: unknown) =>
    (await api.get(`${path}/redeliveries/${job}`)).body.data ?? expect.fail('the job was to be answered');
  await sendTests(before, path);
  const tables = tablesBehind(childrenOf(run.pid).engine);
  const failed = await haveFailed(tables, id);
  const hindrance = lastOfFullestShard(failed);
  await tables.rewrite({ ...hindrance, item: { ...hindrance.item, eventType: 'unreadable' } });
  const from = new Date(Date.now() - 3_600_000).toISOString();
  const job = (await before.post(`${path}/redeliveries`, { from })).body.data?.id;
  await until('it to be under way', async () => Number((await jobIn(before, job)).examined) > 0);
  await run.kill();
  before.close();
  tables.close();
  await loseMessages();

  run = await startLocalRun(directory.path, settings);
  const after = apiClient(run.environment);
  const left = await jobIn(after, job);
  expect(left.status).toBe('running');
  expect(left.examined).toBeLessThan(failed.length);
  const restarted = tablesBehind(childrenOf(run.pid).engine);
  await restarted.rewrite(hindrance);
  restarted.close();
  // It is looked at once a minute.
  const done = await until(
    'its end',
    async () => {
      const found = await jobIn(after, job);
      return found.status !== 'running' && found;
    },
    RECOVERY_MS,
  );
  expect(done).toMatchObject({ status: 'done', examined: failed.length, redelivered: failed.length });
  const deliveries = await until(
    'every delivery to end',
    async () => {
      const all = await after.all(`${path}/deliveries`);
      return all.every(({ terminalAt }) => terminalAt !== null) && all;
    },
    RECOVERY_MS,
  );
  const made = deliveries.filter(({ redeliveryOf }) => redeliveryOf !== null);
  expect(deliveries).toHaveLength(2 * failed.length);
  expect(new Set(made.map(({ eventId }) => eventId)).size).toBe(failed.length);
  expect(made.every(({ status }) => status === 'succeeded')).toBe(true);
  after.close();
  await receiver.stop();
}, 400_000);

/** The local run keeps them on disk, where they outlive it. */
async function loseMessages(): Promise<void> {
  const state = join(directory.path, 'state');
  const files = (await readdir(state)).filter((name) => name.startsWith('fauxqs.db'));
  expect(files).not.toEqual([]);
  for (const name of files) await rm(join(state, name));
}

/** Has an endpoint sent more events than a page of a job has, and waits until it has received them. */
async function sendTests(api: ApiClient, path: string): Promise<void> {
  let accepted = 0;
  const lane = async () => {
    while (accepted < FAILED) if ((await api.post(`${path}/test`)).status === 202) accepted += 1;
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  await until('the deliveries to succeed', async () => {
    const all = await api.all(`${path}/deliveries`);
    return all.length >= accepted && all.every(({ status }) => status === 'succeeded');
  });
}

/** Stores the deliveries of an endpoint as if all their attempts had failed. @returns as they are then */
async function haveFailed({ rows, rewrite }: TablesBehind, endpoint: string): Promise<Row[]> {
  const found = (await rows([endpoint])).filter(({ item }) => String(item.sk).startsWith('dlv_'));
  const failed = found.map(({ table, item }) => ({
    table,
    item: { ...item, status: 'exhausted', terminalReason: 'max_attempts' },
  }));
  for (const row of failed) await rewrite(row);
  return failed;
}

/** A delivery that no job comes to in its first page, and that none gets past while it cannot be read. */
function lastOfFullestShard(deliveries: readonly Row[]): Row {
  const shards = [...Map.groupBy(deliveries, ({ item }) => item.pk).values()];
  const [fullest = []] = shards.sort((a, b) => b.length - a.length);
  const [last] = fullest.sort((a, b) => (String(a.item.sk) > String(b.item.sk) ? -1 : 1));
  return last ?? expect.fail('there were to be deliveries');
}
