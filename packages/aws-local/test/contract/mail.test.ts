import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SendEmailCommand } from '@aws-sdk/client-sesv2';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startMailService } from '../../src/mail/mail-service.ts';
import { openMailbox } from '../../src/mail/mailbox.ts';
import { sesClient } from './clients.ts';
import { stateDirectory } from './state-directory.ts';

async function start(directory: string) {
  const mailbox = openMailbox(directory);
  const engine = await startMailService(mailbox);
  onTestFinished(() => engine.stop());
  const client = sesClient(engine.endpoint);
  const send = (subject: string, to: string[] = ['admin@local.test']) =>
    client.send(
      new SendEmailCommand({
        FromEmailAddress: 'notifications@local.test',
        Destination: { ToAddresses: to },
        Content: {
          Simple: {
            Subject: { Data: subject },
            Body: { Text: { Data: 'Grüße\nAda' }, Html: { Data: '<p>Grüße</p>' } },
          },
        },
      }),
    );
  return { mailbox, send };
}

describe('the embedded SES', () => {
  it('has a message in the mailbox before it answers', async () => {
    const { mailbox, send } = await start(stateDirectory());

    const before = new Date();
    const { MessageId } = await send('Geändert');

    const [name = '', ...others] = await mailbox.names();
    expect(others).toEqual([]);
    const message = await mailbox.read(name);
    expect(message?.mail).toMatchObject({
      id: MessageId,
      from: 'notifications@local.test',
      to: ['admin@local.test'],
      subject: 'Geändert',
      text: 'Grüße\nAda',
      html: '<p>Grüße</p>',
    });
    expect(message?.mail.at.getTime()).toBeGreaterThanOrEqual(before.getTime());
  });

  it('stores each message in a file for its owner only, in the order of time', async () => {
    const directory = stateDirectory();
    const { mailbox, send } = await start(directory);
    const subjects = ['first', 'second', 'third'];
    for (const subject of subjects) await send(subject);

    const files = readdirSync(join(directory, 'mailbox'));
    expect(files).toHaveLength(3);
    expect(files.map((file) => statSync(join(directory, 'mailbox', file)).mode & 0o777)).toEqual([
      0o600, 0o600, 0o600,
    ]);
    const names = await mailbox.names();
    expect(names.toSorted()).toEqual(files.toSorted());
    expect(names.every((name) => /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z-[\w-]+\.eml$/.test(name))).toBe(
      true,
    );
    const times = await Promise.all(names.map(async (name) => (await mailbox.read(name))?.mail.at.getTime()));
    expect(times).toEqual(times.toSorted().toReversed());
  });

  it('is empty before the first message, and has the messages of earlier runs', async () => {
    const directory = stateDirectory();
    const first = await start(directory);
    expect(await first.mailbox.names()).toEqual([]);
    await first.send('kept');

    const { mailbox } = await start(directory);
    const [name = ''] = await mailbox.names();
    expect((await mailbox.read(name))?.mail.subject).toBe('kept');
  });

  it('lists only its own files', async () => {
    const directory = stateDirectory();
    const { mailbox, send } = await start(directory);
    await send('ours');
    writeFileSync(join(directory, 'mailbox', 'notes.eml'), 'Subject: not ours');
    writeFileSync(join(directory, 'secret.eml'), 'not in the mailbox');

    expect(await mailbox.names()).toHaveLength(1);
    for (const name of ['notes.eml', '../secret.eml', '2026-11-21T13-27-44-512Z-gone.eml'])
      expect(await mailbox.read(name)).toBeUndefined();
  });

  it('is unavailable to the configured recipients', async () => {
    const { mailbox, send } = await start(stateDirectory());
    await expect(send('lost', ['a@unavailable.test'])).rejects.toMatchObject({
      name: 'ServiceUnavailable',
      $metadata: { httpStatusCode: 503, attempts: 3 },
    });
    expect(await mailbox.names()).toEqual([]);
  });
});
