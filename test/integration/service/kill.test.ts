import { until } from 'aws-local/test/until.ts';
import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { aService, KILLED, RECOVERY_MS } from './a-service.ts';
import { ok } from './receivers.ts';

const MESSAGES = 300;

const service = aService(KILLED);

it('a local run delivers every accepted message although every process is killed in the middle', async () => {
  const copies = new Map<string, number>();
  const seen = new Set<string>();
  const { id, secret, received } = await service.subscribe(
    ({ body, headers }) => {
      seen.add(JSON.parse(body.toString()).data.messageId);
      const delivery = String(headers['webhook-delivery-id']);
      copies.set(delivery, (copies.get(delivery) ?? 0) + 1);
      return ok();
    },
    ['message.received'],
  );
  const before = service.api;
  const conversation = await before.createConversation();

  const accepted = new Set<string>();
  let next = 0;
  const lane = async () => {
    while (next++ < MESSAGES) {
      const path = `/api/v1/conversations/${conversation}/messages`;
      // A request without an answer may or may not have an effect.
      const answer = await before.post(path, { role: 'user', content: 'hello' }).catch(() => undefined);
      if (answer?.status === 201) accepted.add(String(answer.body.data?.id));
    }
  };
  const posting = Promise.all(Array.from({ length: 8 }, lane));
  await until('a third of the deliveries', () => seen.size > MESSAGES / 3);
  const receivedBefore = received.length;
  expect(await service.restart('kill')).toBeNull();
  await posting;
  expect(accepted.size).toBeGreaterThanOrEqual(MESSAGES / 3);

  await until(
    'every accepted message',
    () => [...accepted].every((message) => seen.has(message)),
    RECOVERY_MS,
  );
  const deliveries = await until(
    'every delivery to succeed',
    async () => {
      const all = await service.deliveries(id);
      return all.every(({ status }) => status === 'succeeded') && all;
    },
    RECOVERY_MS,
  );
  expect(deliveries.length).toBeGreaterThanOrEqual(accepted.size);
  // Only a delivery that was in progress can be sent twice, and it counts a second attempt.
  const attempts = new Map(deliveries.map((delivery) => [String(delivery.id), Number(delivery.attempts)]));
  for (const [delivery, times] of copies) expect(times).toBeLessThanOrEqual(attempts.get(delivery) ?? 0);
  // The secret from before the kill verifies deliveries from after it.
  const later = received.slice(receivedBefore);
  expect(later).not.toEqual([]);
  for (const { body, headers } of later)
    expect(new Webhook(secret).verify(body.toString(), headers)).toBeTruthy();
}, 400_000);
