import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { CREDENTIALS } from 'aws-local/engines/engines.ts';
import { until } from 'aws-local/test/until.ts';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import { OrgId } from '../../../../functions/aws/ids.ts';
import {
  type Answer,
  type ReceivedDelivery,
  startReceiver,
} from '../../../../packages/cli/src/receiver/receiver.ts';
import { aBusEvent } from '../../../builders.ts';
import { type RunbookPage, runbookPages } from '../../../support/runbooks.ts';
import type { LocalService } from '../a-service.ts';
import { ok, path } from '../receivers.ts';
import { operateHere, operatorShell } from './operator-shell.ts';

/** The test of the documentation runs its commands as programs. */
const GUIDE = readFileSync(join(import.meta.dirname, '../../../../docs/guides/operate.md'), 'utf8');

const page = (name: string): RunbookPage =>
  runbookPages().find((one) => one.name === name) ?? expect.fail(`there is no page ${name}`);

/**
 * The operator's commands and the runbooks on a local run: each command works and has the effect that its
 * page describes.
 */
export function operating(service: LocalService): void {
  const bash = (script: string) => operatorShell(service.run.directory, script);

  /** Runs all blocks of a page that work on a local run, one after the other in one shell. */
  async function follow(name: string): Promise<string> {
    const { code, output, errors } = await bash(page(name).local.join('\n'));
    expect([name, code, errors]).toEqual([name, 0, '']);
    return output;
  }

  async function operate(command: string): Promise<Record<string, unknown>> {
    const args = [...command.split(' '), '--local', '--json'];
    const { code, output, errors } = await operateHere(service.run.directory, args);
    expect([command, code, errors]).toEqual([command, 0, '']);
    return JSON.parse(output);
  }

  const localOutputs = async () =>
    JSON.parse(await readFile(join(service.run.directory, 'outputs.json'), 'utf8'));

  interface Receiver {
    id: string;
    secret: string;
    received: ReceivedDelivery[];
  }

  /**
   * An `http` channel. No function that creates channels has run before, so the function reads the keyring
   * now.
   */
  async function aChannel(
    respond: () => Answer,
  ): Promise<Receiver & { say(content: string): Promise<void> }> {
    const { api, run } = service;
    const received: ReceivedDelivery[] = [];
    const { url, stop } = await startReceiver({
      ...run.tls,
      respond,
      onDelivery: (delivery) => received.push(delivery),
    });
    onTestFinished(stop);
    const made = async (at: string, body: unknown): Promise<Record<string, unknown>> => {
      const answer = await api.post(at, body);
      expect([at, answer.status]).toEqual([at, 201]);
      return Object(answer.body.data);
    };
    const { id, secret } = await made('/api/v1/channels', { name: 'Messenger', kind: 'http', url });
    const conversation = await made('/api/v1/conversations', { channelId: id, externalUserId: 'ada' });
    const say = async (content: string) =>
      void (await made(`/api/v1/conversations/${conversation.id}/messages`, { role: 'agent', content }));
    return { id: String(id), secret: String(secret), received, say };
  }

  const verifyLast = ({ secret, received }: Receiver) => {
    const last = received.at(-1) ?? expect.fail('a delivery was to be received');
    return new Webhook(secret).verify(last.body.toString(), last.headers);
  };

  describe('rotated keys', () => {
    it('sign for new receivers without a restart, while old receivers verify and old cursors continue', async () => {
      const old = await service.subscribe(ok);
      const test = async () => service.api.post(`${path(old.id)}/test`);
      for (let sent = 1; sent <= 3; sent++) await test();
      await service.ended(old.id, 3);
      expect(verifyLast(old)).toBeTruthy();
      const listing = `${path(old.id)}/deliveries?limit=1`;
      const { nextCursor: before } = (await service.api.get(listing)).body;

      const output = await follow('key-rotation.md');

      expect(output).toContain('Version 2 was made the current one of signing.');
      expect(await operate('keys list')).toMatchObject({
        keyrings: [
          { keyring: 'signing', current: '2', versions: ['1', '2'] },
          { keyring: 'cursor', current: '2', versions: ['1', '2'] },
        ],
      });
      const made = await aChannel(ok);
      await made.say('after the rotation');
      await until('the delivery to the new receiver', () => made.received.length > 0);
      expect(verifyLast(made)).toBeTruthy();
      expect(await operate(`endpoint show ${service.run.environment.ORG_ID} ${made.id}`)).toMatchObject({
        keyVersion: '2',
      });
      await test();
      await service.ended(old.id, 4);
      expect(verifyLast(old)).toBeTruthy();
      expect(await operate(`endpoint show ${service.run.environment.ORG_ID} ${old.id}`)).toMatchObject({
        keyVersion: '1',
      });
      const page = await service.api.get(`${listing}&cursor=${before}`);
      expect(page.status).toBe(200);
      const after = await service.api.get(`${listing}&cursor=${page.body.nextCursor}`);
      expect(after.status).toBe(200);
    });
  });

  describe('dead letters', () => {
    it('are redriven and then processed, as the runbook says', async () => {
      const { endpoints, outputs } = await localOutputs();
      const sqs = new SQSClient({ endpoint: endpoints.sqs, region: 'us-east-1', credentials: CREDENTIALS });
      onTestFinished(() => sqs.destroy());
      const detail = aBusEvent({
        type: 'conversation.created',
        orgId: OrgId.parse(service.run.environment.ORG_ID),
      });
      await sqs.send(
        new SendMessageCommand({
          QueueUrl: outputs.DeadLettersMeter,
          MessageBody: JSON.stringify({ 'detail-type': detail.type, detail }),
        }),
      );
      // As a program, because monitoring reads its exit code.
      const check = await bash(`'${process.execPath}' bin/operate.ts status --local --check`);
      expect(check).toMatchObject({ code: 1 });

      const output = await follow('dead-letters.md');

      expect(output).toContain(detail.id);
      expect(output).toContain('1 letters of meter were given back to its queue');
      const state = await operate('status');
      expect(state.deadLetters).toContainEqual({ name: 'meter', messages: 0, returns: false });
    });
  });

  describe('an endpoint', () => {
    it('is disabled and enabled as the runbook says', async () => {
      const output = await follow('endpoint-storm.md');
      expect(output).toMatch(/is disabled\.[\s\S]*by an operator[\s\S]*is enabled\./);
      // Other tests leave disabled endpoints behind.
      const [id = ''] = /whk_\w+/.exec(output) ?? [];
      expect(output.slice(output.lastIndexOf('is unblocked.'))).not.toContain(id);
    });
  });

  describe('the other runbooks', () => {
    it('work when followed', async () => {
      const followed = ['key-rotation.md', 'dead-letters.md', 'endpoint-storm.md'];
      const lines = runbookPages()
        .filter(({ name }) => !followed.includes(name))
        .flatMap(({ local }) => local.join('').split('\n'))
        .filter((line) => !(line.startsWith('npm run') && GUIDE.includes(`${line}\n`)));
      // Many of them repeat a command.
      const { code, errors } = await bash([...new Set(lines)].join('\n'));
      expect([code, errors]).toEqual([0, '']);
    });
  });
}
