import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_MATCHES, segmentsOf } from '../../../dashboard/src/pages/events/matches.ts';
import { curlOf, signedOf } from '../../../dashboard/src/pages/events/replay.ts';

const ID = 'evt_01a1f84b811a76a1911d13f984ee8603';
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const PAYLOAD = JSON.stringify({
  type: 'ticket.created',
  data: { reason: `it's "$HOME" \`id\` \\n \u2028 🚚\nEND\nEOF` },
});

describe('a search in a payload', () => {
  it('divides the text into parts that are the text again, of which each match is what is looked for', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ maxLength: 3 }), (text, wanted) => {
        const segments = segmentsOf(text, wanted);
        expect(segments.map((segment) => segment.text).join('')).toBe(text);
        for (const { text: part, isMatch } of segments) if (isMatch) expect(part.length).toBe(wanted.length);
      }),
    );
  });

  it('finds text regardless of case, also what means something else in a pattern', () => {
    expect(segmentsOf('a.B (a.b) axb', 'A.B').filter(({ isMatch }) => isMatch)).toHaveLength(2);
    expect(segmentsOf('[$^]', '[$^]')).toEqual([{ text: '[$^]', isMatch: true }]);
    expect(segmentsOf('', 'x')).toEqual([]);
  });

  it('marks a bounded number of matches', () => {
    const matches = segmentsOf('ab'.repeat(2 * MAX_MATCHES), 'a').filter(({ isMatch }) => isMatch);
    expect(matches).toHaveLength(MAX_MATCHES);
  });
});

describe('a copied command', () => {
  const received: { headers: Record<string, string>; body: string }[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    received.push({ headers: request.headers as Record<string, string>, body });
    response.writeHead(204).end();
  });
  let url = '';
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
  });
  afterAll(() => server.close());

  /** Runs a command in a shell. @returns its exit code */
  const run = (command: string, variables: Record<string, string>) =>
    new Promise<number | null>((resolve) => {
      const path = `${dirname(process.execPath)}:${process.env.PATH}`;
      const shell = spawn('sh', ['-c', command], { env: { PATH: path, ...variables }, stdio: 'ignore' });
      shell.on('exit', resolve);
    });

  it('posts the payload with a signature that the libraries of Standard Webhooks accept', async () => {
    const variables = { RECEIVER_URL: url, WEBHOOK_SECRET: SECRET };
    expect(await run(signedOf({ id: ID, payload: PAYLOAD }), variables)).toBe(0);
    const { headers, body } = received.at(-1) ?? expect.fail('nothing was received');
    expect(body).toBe(PAYLOAD);
    expect(headers['webhook-id']).toBe(ID);
    expect(() => new Webhook(SECRET).verify(body, headers)).not.toThrow();
  });

  it('has no secret, and stops without one', async () => {
    const command = signedOf({ id: ID, payload: PAYLOAD });
    expect(command).not.toMatch(/whsec_[A-Za-z0-9+/]/);
    const before = received.length;
    expect(await run(command, { RECEIVER_URL: url })).not.toBe(0);
    expect(received).toHaveLength(before);
  });

  it('quotes the payload so that no shell reads anything else in it', async () => {
    // Any program in the place of curl that repeats what it is given.
    const command = curlOf({ id: ID, payload: PAYLOAD }).replace(/\|\s+curl[\s\S]*/, '> "$FILE"');
    expect(curlOf({ id: ID, payload: PAYLOAD })).toContain(`'webhook-id: ${ID}'`);
    const read = `${command.replace('> "$FILE"', '')} | node -e "fetch(process.env.URL, { method: 'POST', body: require('fs').readFileSync(0) })"`;
    expect(await run(read, { URL: url })).toBe(0);
    expect(received.at(-1)?.body).toBe(PAYLOAD);
  });
});
