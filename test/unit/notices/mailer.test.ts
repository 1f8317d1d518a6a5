import 'aws-sdk-client-mock-vitest/extend';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import {
  MessageRejected,
  SESv2Client,
  SendEmailCommand,
  TooManyRequestsException,
} from '@aws-sdk/client-sesv2';
import { mockClient } from 'aws-sdk-client-mock';
import fc from 'fast-check';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { mailClient } from '../../../functions/aws/clients.ts';
import { buildContentMailKey } from '../../../functions/notices/mailings.ts';
import { groupRecipients, MAX_RECIPIENTS, mailer } from '../../../functions/notices/notify.ts';
import { NotPermitted, type Permit } from '../../../functions/tenancy/gate.ts';
import { aPermit } from '../delivery/outbound/permit.ts';

const ses = mockClient(SESv2Client);
const FROM = 'notifications@example.com';
const mail = {
  to: ['ada@example.com', 'bob@example.com'],
  subject: 'Geänderter Inhalt',
  text: 'Text',
  html: '<p>Text</p>',
};
const mocked = mailer(new SESv2Client({}), FROM);

beforeEach(() => {
  ses.reset();
  ses.on(SendEmailCommand).resolves({ MessageId: 'message-1' });
});

describe('an e-mail', () => {
  it('goes to all recipients at once, in UTF-8, marked as automatic', async () => {
    expect(await mocked.send(mail, await aPermit())).toEqual({ kind: 'sent' });

    const Charset = 'UTF-8';
    expect(ses).toHaveReceivedCommandExactlyOnceWith(SendEmailCommand, {
      FromEmailAddress: FROM,
      Destination: { ToAddresses: mail.to },
      Content: {
        Simple: {
          Subject: { Data: mail.subject, Charset },
          Body: { Text: { Data: mail.text, Charset }, Html: { Data: mail.html, Charset } },
          Headers: [{ Name: 'Auto-Submitted', Value: 'auto-generated' }],
        },
      },
    });
  });

  it('is not sent without a permit of the gate', async () => {
    const forged = Object.freeze({ orgId: 'org_x' }) as unknown as Permit;
    await expect(mocked.send(mail, forged)).rejects.toThrow(NotPermitted);
    expect(ses).not.toHaveReceivedAnyCommand();
  });
});

describe('an e-mail that SES refuses', () => {
  it.each([
    [
      'rejected',
      new MessageRejected({ message: 'ada@example.com is suppressed', $metadata: { httpStatusCode: 400 } }),
    ],
    ['throttled', new TooManyRequestsException({ message: 'slower', $metadata: { httpStatusCode: 429 } })],
    ['out of order', Object.assign(new Error('later'), { $metadata: { httpStatusCode: 503 } })],
    ['without credentials', Object.assign(new Error('none'), { name: 'CredentialsProviderError' })],
    ['without a name', Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' })],
    ['without a name server', Object.assign(new Error('getaddrinfo'), { code: 'EAI_AGAIN' })],
    [
      'out of reach',
      Object.assign(
        new Error(
          '@smithy/node-http-handler - the request socket did not establish a connection with the server within the configured timeout of 1000 ms.',
        ),
        { name: 'TimeoutError' },
      ),
    ],
  ])('counts as not sent when it is %s', async (_, error) => {
    ses.on(SendEmailCommand).rejects(error);
    expect(await mocked.send(mail, await aPermit())).toMatchObject({ kind: 'refused' });
  });

  it('is reported without any address', async () => {
    ses
      .on(SendEmailCommand)
      .rejects(new MessageRejected({ message: 'ada@example.com', $metadata: { httpStatusCode: 400 } }));
    expect(await mocked.send(mail, await aPermit())).toEqual({
      kind: 'refused',
      reason: 'MessageRejected 400',
    });
  });

  it.each([
    ['time-out', Object.assign(new Error('slow'), { name: 'TimeoutError', code: 'ETIMEDOUT' })],
    ['reset', Object.assign(new Error('hang up'), { name: 'TimeoutError', code: 'ECONNRESET' })],
    ['broken pipe', Object.assign(new Error('pipe'), { code: 'EPIPE' })],
    ['answer that is no JSON', Object.assign(new SyntaxError('<'), { $metadata: { httpStatusCode: 200 } })],
    ['defect', new TypeError('x is not a function')],
  ])('counts as possibly sent after a %s', async (_, error) => {
    ses.on(SendEmailCommand).rejects(error);
    expect(await mocked.send(mail, await aPermit())).toMatchObject({ kind: 'unknown' });
  });
});

/**
 * A server in place of SES.
 * @returns the mailer that calls it, and the requests
 */
async function aServer(answer: (socket: Socket, respond: (status: number, body: string) => void) => void) {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    sockets.add(request.socket);
    request.on('data', (chunk) => requests.push(String(chunk)));
    request.on('end', () => answer(request.socket, (status, body) => response.writeHead(status).end(body)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  vi.stubEnv('AWS_ENDPOINT_URL_SESV2', `http://127.0.0.1:${port}`);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  ses.restore();
  const client = mailClient();
  onTestFinished(() => client.destroy());
  return { server, requests, sockets, ...mailer(client, FROM) };
}

describe('the SES client', () => {
  it('sends each e-mail over a connection of its own', async () => {
    const { send, sockets } = await aServer((_, respond) => respond(200, '{"MessageId":"1"}'));
    for (const _ of [1, 2, 3]) expect(await send(mail, await aPermit())).toEqual({ kind: 'sent' });
    expect(sockets.size).toBe(3);
  });

  it('does not repeat a call that got an error', async () => {
    const { send, requests } = await aServer((_, respond) => respond(503, '{}'));
    expect(await send(mail, await aPermit())).toMatchObject({ kind: 'refused' });
    expect(requests).toHaveLength(1);
  });

  it('does not repeat a call whose connection broke, and reports the outcome as unknown', async () => {
    const { send, requests } = await aServer((socket) => socket.destroy());
    expect(await send(mail, await aPermit())).toMatchObject({ kind: 'unknown' });
    expect(requests).toHaveLength(1);
  });

  it('knows that nothing was sent when the connection is refused', async () => {
    const { send, server } = await aServer(() => undefined);
    await new Promise((resolve) => server.close(resolve));
    expect(await send(mail, await aPermit())).toEqual({ kind: 'refused', reason: 'Error ECONNREFUSED' });
  });
});

describe('mail key', () => {
  it('of content is the normalized URL', () => {
    expect(buildContentMailKey('https://Example.com:443/a/../b#top')).toBe(
      buildContentMailKey('https://example.com/b'),
    );
    expect(buildContentMailKey('https://example.com/b?x')).not.toBe(
      buildContentMailKey('https://example.com/b'),
    );
    expect(buildContentMailKey('no URL')).toMatch(/^mail#source#[0-9a-f]{64}$/);
  });
});

describe('recipients', () => {
  it('get one e-mail, in any spelling', () => {
    expect(
      groupRecipients(['Ada@Example.com', 'bob@example.com', 'ada@example.com']).groups.flat(),
    ).toHaveLength(2);
  });

  it.each([
    'ada@example.com\r\nBcc: all@example.com',
    'ada@example.com, bob@example.com',
    '<ada@example.com>',
    'Ada <ada@example.com>',
    'ädä@example.com',
    'ada@',
    '@example.com',
    'ada..b@example.com',
    '',
  ])('at %j are rejected, and the others are not', (unfit) => {
    expect(groupRecipients([unfit, 'bob@example.com'])).toEqual({ groups: [['bob@example.com']], unfit: 1 });
  });

  it('are deduplicated and split, for any number', () => {
    const addresses = fc.array(fc.emailAddress(), { maxLength: 150 });
    fc.assert(
      fc.property(addresses, (all) => {
        const { groups, unfit } = groupRecipients(all);
        for (const group of groups) expect(group.length).toBeLessThanOrEqual(MAX_RECIPIENTS);
        expect(unfit).toBe(0);
        const lower = (each: string) => each.toLowerCase();
        expect(new Set(groups.flat().map(lower))).toEqual(new Set(all.map(lower)));
        expect(groups.flat()).toHaveLength(new Set(all.map(lower)).size);
      }),
    );
  });
});
