import { afterAll, beforeAll, expect, it } from 'vitest';
import { startReceiver } from '../../../lib/local/receiver/receiver.ts';
import { apiClient } from '../../support/api.ts';
import { type LocalRun, startLocalRun, temporaryDirectory } from '../../support/local-run.ts';
import { until } from '../../support/until.ts';

const MESSAGES = 300;

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let run: LocalRun;

// A short deadline makes short leases, so that what a killed worker held comes back soon.
const settings = { ATTEMPT_TIMEOUT_SECONDS: '1' };

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
