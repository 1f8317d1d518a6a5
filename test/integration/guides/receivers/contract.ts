import { randomBytes, randomUUID } from 'node:crypto';
import { awaitAssertion } from 'aws-local/test/until.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EventId, newId } from '../../../../functions/aws/ids.ts';
import { sign } from '../../../../functions/delivery/signature.ts';
import { certify, type Finding } from '../../../../packages/cli/src/certify/command.ts';

/** A running receiver of `examples/`. */
export interface Receiver {
  url: string;
  /** Its output so far. */
  printed(): string;
  stop(): Promise<void>;
}

interface SignedRequest {
  headers: Record<string, string>;
  body: Uint8Array;
}

const aSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
/** The one that is replaced first: receivers accept both. */
const SECRETS = [aSecret(), aSecret()] as const;
const ANY_TEXT = 'Grüße, 你好 👋 \u2028 "quoted" </script>';
/** Serialized again, it has other bytes. */
const SPACED =
  '{ "type": "message.received", "data": { "conversationId": "cnv_1", "messageId": "msg_1", "role": "user" } }';

const START_MS = 240_000;

/**
 * The behavior of a receiver: which requests it accepts, that it processes an event once, and what it prints.
 * It prints `Processed <event id> <event type>` for each event.
 * @param start starts it with signing secrets
 */
export function receiverContract(start: (secrets: readonly string[]) => Promise<Receiver>): void {
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await start(SECRETS);
  }, START_MS);
  afterAll(() => receiver?.stop());

  /** @returns the status of its response */
  const post = async ({ headers, body }: SignedRequest): Promise<number> =>
    (await fetch(receiver.url, { method: 'POST', headers, body: new Uint8Array(body) })).status;
  const countProcessed = (id: string): number => receiver.printed().split(`Processed ${id} `).length - 1;
  /** Sends another event, and waits until it was processed: earlier ones have been, too. */
  const awaitProcessed = async (id: string, count: number): Promise<void> => {
    const last = anEvent();
    expect(await post(signed(last))).toBe(204);
    await awaitAssertion(() => expect(countProcessed(last.id)).toBe(1));
    await awaitAssertion(() => expect(countProcessed(id)).toBe(count));
  };

  it.each<[string, Partial<Signing>, Partial<Event>]>([
    ['a signed event', {}, {}],
    ['an event that is signed with the other secret', { secret: SECRETS[1] }, {}],
    ['an event whose text is not ASCII', {}, aHandoff(ANY_TEXT)],
    ['an event of 64 KiB', {}, aHandoff(`${ANY_TEXT}${'x'.repeat(64 * 1024)}`)],
    ['an event of a type that it does not know', {}, { type: 'conversation.archived', data: {} }],
    ['an event that was sent four minutes ago', { secondsAgo: 240 }, {}],
  ])('processes %s', async (_, signing, event) => {
    const given = anEvent(event);
    expect(await post(signed(given, signing))).toBe(204);
    await awaitProcessed(given.id, 1);
  });

  it('processes an event with a signature beside others', async () => {
    const event = anEvent();
    const request = signed(event);
    const signatures = `v1a,AAAA v1,${randomBytes(32).toString('base64')} ${request.headers['webhook-signature']}`;
    expect(await post({ ...request, headers: { ...request.headers, 'webhook-signature': signatures } })).toBe(
      204,
    );
    await awaitProcessed(event.id, 1);
  });

  it('accepts an event that it has processed, and does not process it twice', async () => {
    const event = anEvent();
    expect(await post(signed(event))).toBe(204);
    await awaitProcessed(event.id, 1);
    expect(await post(signed(event, { secret: SECRETS[1], secondsAgo: -1 }))).toBe(204);
    await awaitProcessed(event.id, 1);
  });

  it('processes an event once that arrives several times at the same moment', async () => {
    const event = anEvent();
    const statuses = await Promise.all(Array.from({ length: 5 }, () => post(signed(event))));
    // 503: another request processes the event, and may fail. The next attempt finds out.
    expect(statuses.filter((status) => status !== 503)).toContain(204);
    expect(statuses.filter((status) => ![204, 503].includes(status))).toEqual([]);
    await awaitProcessed(event.id, 1);
  });

  it.each<[string, (request: SignedRequest) => SignedRequest]>([
    ['a body that was changed', ({ headers, body }) => ({ headers, body: changed(body) })],
    ['a body that was parsed and serialized', ({ headers, body }) => ({ headers, body: serialized(body) })],
    ['another webhook-id', withHeader('webhook-id', newId('evt', new Date()))],
    ['no webhook-id', withHeader('webhook-id', undefined)],
    ['no webhook-timestamp', withHeader('webhook-timestamp', undefined)],
    ['no webhook-signature', withHeader('webhook-signature', undefined)],
    ['no header of a webhook', ({ body }) => ({ headers: { 'content-type': 'application/json' }, body })],
    ['a timestamp that is no number', withHeader('webhook-timestamp', 'now')],
    ['a timestamp of 5,000 digits', withHeader('webhook-timestamp', '9'.repeat(5_000))],
    ['a signature of another version', withHeader('webhook-signature', 'v2,AAAA')],
    ['an empty body', ({ headers }) => ({ headers, body: new Uint8Array() })],
  ])('refuses %s, and processes the genuine request after it', async (_, change) => {
    const event = anEvent({ text: SPACED });
    const request = signed(event);
    expect([400, 401]).toContain(await post(change(request)));
    await awaitProcessed(event.id, 0);
    expect(await post(request)).toBe(204);
    await awaitProcessed(event.id, 1);
  });

  it.each<[string, Partial<Signing>]>([
    ['another secret', { secret: aSecret() }],
    ['a timestamp of six minutes ago', { secondsAgo: 360 }],
    ['a timestamp in six minutes', { secondsAgo: -360 }],
  ])('refuses a request with %s', async (_, signing) => {
    const event = anEvent();
    expect([400, 401]).toContain(await post(signed(event, signing)));
    await awaitProcessed(event.id, 0);
  });

  it('refuses a body of more than 1 MiB', async () => {
    const event = anEvent(aHandoff('x'.repeat(1024 * 1024)));
    expect(await post(signed(event))).toBe(413);
    await awaitProcessed(event.id, 0);
  });

  it('meets each rule of conversations certify', async () => {
    const { signal } = new AbortController();
    const findings: Finding[] = [];
    for await (const finding of certify(new URL(receiver.url), SECRETS[0], { signal }))
      findings.push(finding);
    expect(findings.filter(({ passed }) => !passed)).toEqual([]);
    const twice = findings.find(({ rule }) => rule === 'duplicate')?.trials[0]?.eventId ?? '';
    await awaitProcessed(twice, 1);
  });

  it('prints no secret, no signature and no text of an event', async () => {
    const marker = randomUUID();
    const event = anEvent(aHandoff(marker));
    const request = signed(event);
    expect(await post(request)).toBe(204);
    await awaitProcessed(event.id, 1);
    expect([400, 401]).toContain(await post(signed(event, { secret: aSecret() })));
    const signature = request.headers['webhook-signature']?.slice(3);
    for (const text of [marker, signature, ...SECRETS.map((secret) => secret.slice(6))])
      expect(receiver.printed()).not.toContain(text);
  });
}

interface Event {
  id: EventId;
  type: string;
  data: object;
  /** The body, in place of one with the type and data. */
  text: string | undefined;
}

const anEvent = (change: Partial<Event> = {}): Event => ({
  id: newId('evt', new Date()),
  type: 'message.received',
  data: { conversationId: 'cnv_1', messageId: 'msg_1', role: 'user' },
  text: undefined,
  ...change,
});

function aHandoff(reason: string): Pick<Event, 'type' | 'data'> {
  return {
    type: 'handoff.requested',
    data: { conversationId: 'cnv_1', escalationLogId: 'esc_1', reason },
  };
}

interface Signing {
  secret: string;
  secondsAgo: number;
}

function signed(
  { id, type, data, text }: Event,
  { secret = SECRETS[0], secondsAgo = 0 }: Partial<Signing> = {},
): SignedRequest {
  const envelope = { type, schemaVersion: 1, orgId: 'org_1', createdAt: new Date().toISOString(), data };
  const body = Buffer.from(text ?? JSON.stringify(envelope));
  const timestamp = Math.floor(Date.now() / 1000) - secondsAgo;
  return {
    headers: {
      'content-type': 'application/json',
      'user-agent': 'ConversationService-Webhooks',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': sign(secret, id, timestamp, body),
      'webhook-delivery-id': newId('dlv', new Date()),
      'webhook-attempt': '1',
    },
    body,
  };
}

function withHeader(name: string, value: string | undefined): (request: SignedRequest) => SignedRequest {
  return ({ headers: { [name]: _, ...headers }, body }) => ({
    headers: value === undefined ? headers : { ...headers, [name]: value },
    body,
  });
}

const changed = (body: Uint8Array): Uint8Array =>
  Buffer.from(Buffer.from(body).toString().replace('msg_1', 'msg_2'));
const serialized = (body: Uint8Array): Uint8Array =>
  Buffer.from(JSON.stringify(JSON.parse(Buffer.from(body).toString())));
