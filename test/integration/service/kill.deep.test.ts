import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PATIENCE } from 'aws-local/test/patience.ts';
import { until } from 'aws-local/test/until.ts';
import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import type { ApiClient } from '../../support/api.ts';
import { enginesOf } from '../../support/child-processes.ts';
import { type Row, type TablesBehind, tablesBehind } from '../../support/tables.ts';
import { aService, KILLED, RECOVERY_MS } from './a-service.ts';
import { ok, path } from './receivers.ts';

const MESSAGES = 300;
/** More than one page of a job, which takes 25 of each of eight shards (functions/workers/redeliver.ts). */
const FAILED = 8 * 25 + 1;

const service = aService(KILLED);

it(
  'a local run delivers every accepted message although every process is killed in the middle',
  async () => {
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
  },
  400_000 * PATIENCE,
);

it(
  'a local run makes all accepted redeliveries although every process is killed in the middle',
  async () => {
    const { id, received } = await service.subscribe(ok);
    const first = (await service.api.post(`${path(id)}/test`)).body.data?.deliveryId;
    await service.ended(id, 1);

    const promised = new Set<unknown>();
    let next = 0;
    const lane = async () => {
      while (next++ < 100) {
        // A request without an answer may or may not have an effect.
        const answer = await service.api
          .call({ method: 'POST', path: `${path(id)}/deliveries/${first}/redeliver` })
          .catch(() => undefined);
        if (answer?.status === 202) promised.add(answer.body.data?.id);
      }
    };
    const asking = Promise.all(Array.from({ length: 8 }, lane));
    await until('a part of them', () => received.length > 20);
    expect(await service.restart('kill')).toBeNull();
    await asking;

    expect(promised.size).toBeGreaterThan(0);
    const made = await until('every delivery to succeed', async () => {
      const all = await service.deliveries(id);
      return all.every(({ status }) => status === 'succeeded') && all;
    });
    const ids = new Set(made.map((delivery) => delivery.id));
    expect([...promised].filter((promise) => !ids.has(promise))).toEqual([]);
    const seen = new Set(received.map(({ headers }) => headers['webhook-delivery-id']));
    expect([...ids].filter((delivery) => !seen.has(String(delivery)))).toEqual([]);
  },
  400_000 * PATIENCE,
);

it(
  'a local run ends a redelivery job although every process is killed and all messages are lost',
  async () => {
    const { id } = await service.subscribe(ok, ['conversation.resolved']);
    const before = service.api;
    const at = path(id);
    const jobIn = async (api: ApiClient, job: unknown) =>
      (await api.get(`${at}/redeliveries/${job}`)).body.data ?? expect.fail('the job was to be answered');
    await sendTests(before, at);
    const tables = tablesBehind(enginesOf(service.run.pid));
    const failed = await rewriteAsFailed(tables, id);
    // The job's deliveries take minutes.
    await before.call({ method: 'PATCH', path: at, body: { maxPerSecond: 1 } });
    const from = new Date(Date.now() - 3_600_000).toISOString();
    const job = (await before.post(`${at}/redeliveries`, { from })).body.data?.id;
    await until('the job to be running', async () => Number((await jobIn(before, job)).examined) > 0);
    await service.run.kill();
    tables.close();
    await loseMessages(service.run.directory);
    await service.restart('kill');
    const after = service.api;
    const left = await jobIn(after, job);
    expect(left.status).toBe('running');
    expect(left.examined).toBeLessThan(failed.length);
    await after.call({ method: 'PATCH', path: at, body: { maxPerSecond: null } });
    // The job is resumed within a minute.
    const done = await until(
      'its end',
      async () => {
        const stored = await jobIn(after, job);
        return stored.status !== 'running' && stored;
      },
      RECOVERY_MS,
    );
    expect(done).toMatchObject({ status: 'done', examined: failed.length, redelivered: failed.length });
    const deliveries = await until(
      'every delivery to end',
      async () => {
        const all = await after.all(`${at}/deliveries`);
        return all.every(({ terminalAt }) => terminalAt !== null) && all;
      },
      RECOVERY_MS,
    );
    const made = deliveries.filter(({ redeliveryOf }) => redeliveryOf !== null);
    expect(deliveries).toHaveLength(2 * failed.length);
    expect(new Set(made.map(({ eventId }) => eventId)).size).toBe(failed.length);
    expect(made.every(({ status }) => status === 'succeeded')).toBe(true);
  },
  400_000 * PATIENCE,
);

/** The local run keeps messages on disk, so they survive a kill. */
async function loseMessages(directory: string): Promise<void> {
  const state = join(directory, 'state');
  const files = (await readdir(state)).filter((name) => name.startsWith('fauxqs.db'));
  expect(files).not.toEqual([]);
  for (const name of files) await rm(join(state, name));
}

/** Sends an endpoint more events than a page of a job has, and waits until it has received them. */
async function sendTests(api: ApiClient, at: string): Promise<void> {
  let accepted = 0;
  const lane = async () => {
    while (accepted < FAILED) if ((await api.post(`${at}/test`)).status === 202) accepted += 1;
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  await until('the deliveries to succeed', async () => {
    const all = await api.all(`${at}/deliveries`);
    return all.length >= accepted && all.every(({ status }) => status === 'succeeded');
  });
}

/**
 * Rewrites the deliveries of an endpoint as if all attempts had failed.
 * @returns the new rows
 */
async function rewriteAsFailed({ rows, rewrite }: TablesBehind, endpoint: string): Promise<Row[]> {
  const deliveries = (await rows([endpoint])).filter(({ item }) => String(item.sk).startsWith('dlv_'));
  const failed = deliveries.map(({ table, item }) => ({
    table,
    item: { ...item, status: 'exhausted', terminalReason: 'max_attempts' },
  }));
  for (const row of failed) await rewrite(row);
  return failed;
}
