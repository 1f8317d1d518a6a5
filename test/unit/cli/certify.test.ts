import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { certify, type Finding } from '../../../packages/cli/src/certify/command.ts';
import { RULES, type RuleName } from '../../../packages/cli/src/certify/rules.ts';
import { VerificationError, verify } from '../../../packages/sdk/src/receiver/index.ts';
import { anchorsOf } from '../../support/markdown.ts';

const ROOT = join(import.meta.dirname, '../../..');
const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const TYPES = ['message.received', 'handoff.requested', 'conversation.created', 'conversation.resolved'];
const FIELDS = ['type', 'schemaVersion', 'orgId', 'createdAt', 'data'];

/** A receiver with one fault, and the rules that it therefore fails. */
const FAULTS = {
  'has none': [],
  'refuses every request': ['valid'],
  'checks no signature': ['altered-body', 'wrong-secret'],
  'serializes the body again before it verifies': ['raw-body'],
  'parses the body before it verifies': ['raw-body'],
  'checks no time': ['old-timestamp'],
  'compares the first signature only': ['two-secrets'],
  'processes an event again, which its table refuses': ['duplicate'],
  'refuses what happened before what it knows': ['reordered-pair'],
  'fails for an unknown type': ['unknown-type'],
  'refuses unknown fields': ['unknown-field'],
  'is busy while it works': ['concurrent'],
  'reads the first piece of the body only': ['slow-request'],
  'ends when a connection is reset': ['reset-connection'],
  'processes an event again, which nothing shows': [],
} satisfies Record<string, RuleName[]>;
type Fault = keyof typeof FAULTS;

/** A receiver in memory. @returns its URL, and how to stop it */
async function startReceiver(fault: Fault) {
  const seen = new Set<string>();
  const latest = new Map<string, string>();
  let working = 0;
  const readBody = async (request: IncomingMessage): Promise<Buffer> =>
    fault === 'reads the first piece of the body only'
      ? (await once(request, 'data'))[0]
      : Buffer.concat(await request.toArray());

  async function accept(request: IncomingMessage): Promise<number> {
    const received = await readBody(request);
    const parsesFirst = fault === 'parses the body before it verifies';
    const serializes = fault === 'serializes the body again before it verifies';
    if (parsesFirst) JSON.parse(String(received));
    const body = serializes ? Buffer.from(JSON.stringify(parse(received))) : received;
    const headers = { ...request.headers };
    const [first] = String(headers['webhook-signature']).split(' ');
    if (fault === 'compares the first signature only') headers['webhook-signature'] = first;
    const isOld = Date.now() / 1000 - Number(headers['webhook-timestamp']) > 300;
    const toleranceSeconds = fault === 'checks no time' ? 1e9 : 300;
    const isVerified =
      fault === 'checks no signature' ? !isOld : await isSigned(headers, body, toleranceSeconds);
    if (!isVerified || fault === 'refuses every request') return 400;
    const event = parse(body);
    if (event === undefined) return 400;
    return work(String(headers['webhook-id']), event);
  }

  async function work(id: string, event: Record<string, unknown>): Promise<number> {
    const { type, createdAt, data } = event as {
      type: string;
      createdAt: string;
      data: { conversationId: string };
    };
    const isNew = !seen.has(id);
    seen.add(id);
    if (fault === 'processes an event again, which its table refuses' && !isNew) return 500;
    if (fault === 'fails for an unknown type' && !TYPES.includes(type)) return 500;
    if (fault === 'refuses unknown fields' && Object.keys(event).some((name) => !FIELDS.includes(name)))
      return 400;
    const isLate = createdAt < (latest.get(data.conversationId) ?? '');
    latest.set(data.conversationId, createdAt);
    if (fault === 'refuses what happened before what it knows' && isLate) return 409;
    if (fault !== 'is busy while it works') return 204;
    working += 1;
    if (working > 1) return 503;
    await new Promise((resolve) => setTimeout(resolve, 50));
    working = 0;
    return 204;
  }

  const server = createServer((request, response) => {
    accept(request).then(
      (status) => response.writeHead(status).end(),
      () => {
        if (request.errored && fault === 'ends when a connection is reset') stop();
        response.writeHead(500).end();
      },
    );
  });
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`), stop };
}

function parse(body: Buffer): Record<string, unknown> | undefined {
  try {
    return JSON.parse(String(body));
  } catch {
    return undefined;
  }
}

async function isSigned(
  headers: IncomingMessage['headers'],
  body: Buffer,
  toleranceSeconds: number,
): Promise<boolean> {
  try {
    await verify({ headers, body }, SECRET, { toleranceSeconds });
    return true;
  } catch (error) {
    if (error instanceof VerificationError) return false;
    throw error;
  }
}

const { signal } = new AbortController();

it.concurrent.each(Object.entries(FAULTS) as [Fault, RuleName[]][])(
  'a receiver whose fault is that it %s fails %j',
  async (fault, failed) => {
    const receiver = await startReceiver(fault);
    const findings: Finding[] = [];
    for await (const finding of certify(receiver.url, SECRET, { signal })) findings.push(finding);
    receiver.stop();
    expect(findings.filter(({ passed }) => !passed).map(({ rule }) => rule)).toEqual(failed);
    const isExamined = !failed.some((rule) => rule === 'valid');
    expect(findings).toHaveLength(isExamined ? Object.keys(RULES).length : 1);
  },
);

it('could not run when nothing listens', async () => {
  const receiver = await startReceiver('has none');
  receiver.stop();
  await expect(certify(receiver.url, SECRET, { signal }).next()).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(/^No answer from 127\.0\.0\.1:\d+: nothing listens there\. /),
  });
});

it('has a section of the guide for each rule', () => {
  const anchors = anchorsOf(readFileSync(join(ROOT, 'docs/guides/certify.md'), 'utf8'));
  expect(anchors).toEqual(expect.arrayContaining(Object.keys(RULES)));
});
