import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from 'aws-local/test/until.ts';
import { expect, it } from 'vitest';
import type { LocalService } from '../a-service.ts';
import { ok, path } from '../receivers.ts';

const COLLECTION = '/api/v1/webhooks';
const events = ['ticket.created'];

/**
 * The list of blocked hosts is read every 30 seconds. Ten failures within that time would disable the
 * endpoint.
 */
const PATIENT = [240_000, 5000] as const;

/** Protection of hosts that customers name: a limit of endpoints for a host, and the sender's name. */
export function hosts(service: LocalService): void {
  it('gets at most ten endpoints of an organization, by registrations and changes of URLs', async () => {
    const { api } = service;
    const register = (url: string) => api.post(COLLECTION, { url, events });
    const answers = await Promise.all(
      Array.from({ length: 14 }, (_, index) => register(`https://Full.example.com:${8440 + index}/${index}`)),
    );
    const registered = answers.filter(({ status }) => status === 201);
    expect(registered).toHaveLength(10);
    for (const { status, body } of answers.filter((answer) => !registered.includes(answer))) {
      expect([status, body.error?.type]).toEqual([409, 'LIMIT_EXCEEDED']);
      expect(body.error?.message).toContain('10 webhook endpoints at one host');
    }

    const elsewhere = await register('https://elsewhere.example.com/');
    const move = () =>
      api.call({
        method: 'PATCH',
        path: path(String(elsewhere.body.data?.id)),
        body: { url: 'https://full.example.com/moved' },
      });
    const refused = await move();
    expect([refused.status, refused.body.error?.type]).toEqual([409, 'LIMIT_EXCEEDED']);
    const first = String(registered[0]?.body.data?.id);
    expect((await api.call({ method: 'DELETE', path: path(first) })).status).toBe(204);
    expect((await move()).status).toBe(200);
    expect((await register('https://full.example.com/')).status).toBe(409);
  });

  it('sees the sender in each delivery', async () => {
    const { id, received } = await service.subscribe(ok);
    await service.api.post(`${path(id)}/test`);
    await service.ended(id, 1);
    expect(received[0]?.headers).toMatchObject({
      'user-agent': expect.stringMatching(
        /^ConversationService-Webhooks\/1\.0 \(\+https?:\/\/\S+\/api\/docs\)$/,
      ),
      'webhook-endpoint-id': id,
    });
  });
}

/** A host that the operator blocks gets nothing until it is unblocked. */
export function blockedHosts(service: LocalService): void {
  async function operate(...words: string[]): Promise<void> {
    const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
    await promisify(execFile)(process.execPath, ['bin/operate.ts', ...words, '--local', '--yes'], {
      cwd: join(import.meta.dirname, '../../../..'),
      env: { PATH, HOME, NODE_COMPILE_CACHE, LOCAL_DIR: service.run.directory },
    });
  }

  it(
    'gets no delivery while the operator blocks it',
    async () => {
      const { api } = service;
      const { id, received } = await service.subscribe(ok);
      const test = () => api.post(`${path(id)}/test`);
      await operate('host', 'block', 'localhost', '--reason', 'its owner asked');
      const refusal = await until(
        'the registration to be refused',
        async () => {
          const answer = await api.post(COLLECTION, { url: 'https://localhost:8443/', events });
          return answer.status === 400 && answer.body.error;
        },
        ...PATIENT,
      );
      expect(refusal).toMatchObject({ type: 'VALIDATION_ERROR', message: expect.stringContaining('url') });
      const failed = await until(
        'a delivery that is blocked',
        async () => {
          await test();
          const all = await service.deliveries(id);
          return all.find(({ lastError }) => String(lastError).includes('blocked'));
        },
        ...PATIENT,
      );
      const sent = received.length;
      expect(failed.lastError).toBe('url has a host that the operator of this service has blocked');
      await until('its end', async () =>
        (await service.deliveries(id)).some((one) => one.id === failed.id && one.status === 'exhausted'),
      );
      expect(received).toHaveLength(sent);

      await operate('host', 'unblock', 'localhost');
      await until(
        'a delivery again',
        async () => {
          await test();
          return received.length > sent;
        },
        ...PATIENT,
      );
    },
    2 * PATIENT[0],
  );
}
