import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { createSeal } from '../../../functions/aws/keyrings.ts';
import { conversationStore } from '../../../functions/conversations/conversations.ts';
import { createVisitorToken } from '../../../functions/tenancy/visitor-token.ts';
import { aConversation, anOrganization } from '../../builders.ts';
import { type Caller, type Data, VISITOR_LIMIT } from '../store/api-handlers.ts';
import { useApi } from './owners.ts';

const { tables, api, keyring: ring, commit, enrol } = useApi();

/** Visitors who write within a minute, in which the tier allows fewer messages. */
const VISITORS = VISITOR_LIMIT + 10;
const SCOPES = ['write:conversations', 'read:webhooks'] as const;
const say = (visitor: Caller, content: string, idempotencyKey?: string): Promise<Data> =>
  visitor('createWidgetMessage', { body: { content }, ...(idempotencyKey && { idempotencyKey }) });

const altered = (token: string) =>
  `${token.slice(0, -9)}${token.at(-9) === 'A' ? 'B' : 'A'}${token.slice(-8)}`;

/** An organization of tier `standard`, whose visitors have a limit. */
async function anOwner() {
  const { tenant, admin, call } = await enrol(SCOPES, anOrganization({ tier: 'standard' }));
  return {
    admin,
    call,
    /** A conversation with a visitor, without requests to the API. */
    async visitor() {
      const conversation = aConversation({ id: newId('cnv', new Date()) });
      await commit(...conversationStore(tables.service).add(tenant, conversation));
      const expiresAt = new Date(Date.now() + 60_000).toISOString();
      const visit = { ...tenant, conversationId: conversation.id, expiresAt };
      const token = createVisitorToken(ring, visit, createSeal(ring));
      return { token, params: { id: conversation.id }, visitor: api.caller(token) };
    },
  };
}

const listMessages = async (call: Caller, params: { id: string }): Promise<Data[]> =>
  Object.values(await call('listMessages', { params })) as Data[];

describe('a message of a visitor', () => {
  it('is recorded as the user’s in the conversation of the token, with its event', async () => {
    const { call, visitor: aVisitor } = await anOwner();
    const [{ visitor, params }, other] = [await aVisitor(), await aVisitor()];
    const { id, createdAt, ...message } = await say(visitor, '<b>Hello</b>');

    expect(message).toEqual({ role: 'user', content: '<b>Hello</b>' });
    expect(await listMessages(call, params)).toMatchObject([
      { id, createdAt, ...message, conversationId: params.id },
    ]);
    expect(await listMessages(call, other.params)).toEqual([]);
    const events = Object.values(await call('listEvents')) as Data[];
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ['message.received', { conversationId: params.id, messageId: id, role: 'user' }],
    ]);
    expect(Object.values(await visitor('readWidgetMessages'))).toMatchObject([{ id }]);
    expect(Object.values(await other.visitor('readWidgetMessages'))).toEqual([]);
  });

  it('takes effect once for each key of its conversation', async () => {
    const { call, visitor: aVisitor } = await anOwner();
    const [mine, other] = [await aVisitor(), await aVisitor()];
    const key = crypto.randomUUID();
    const first = await say(mine.visitor, 'Hello', key);

    expect(await say(mine.visitor, 'Hello', key)).toEqual(first);
    await expect(say(mine.visitor, 'Bye', key)).rejects.toThrow(/422/);
    // A visitor may have guessed, or copied, the key of another one.
    expect(await say(other.visitor, 'Hello', key)).not.toEqual(first);
    for (const { params } of [mine, other]) expect(await listMessages(call, params)).toHaveLength(1);
  });

  it('opens the conversation when it is resolved', async () => {
    const { call, visitor: aVisitor } = await anOwner();
    const { visitor, params } = await aVisitor();
    await call('resolveConversation', { params });
    await say(visitor, 'One more thing');

    expect(await call('readConversation', { params })).toMatchObject({ status: 'open', resolvedBy: null });
  });

  it('is recorded in a sandbox, and refused after its reset', async () => {
    const { admin } = await anOwner();
    const { key } = await admin('provisionSandbox', { body: { name: 'Sandbox', scopes: SCOPES } });
    const call = api.caller(String(Object(key).secretOnce));
    const channel = await call('createChannel', { body: { kind: 'web_widget', name: 'Website' } });
    const body = { channelId: channel.id, externalUserId: 'ada' };
    const params = { id: String((await call('createConversation', { body })).id) };
    const visitor = api.caller(String((await call('createVisitorToken', { params })).token));

    await say(visitor, 'Hello');
    expect(await listMessages(call, params)).toHaveLength(1);
    // Nothing leaves a sandbox.
    expect(await visitor('readWidgetMessages')).toEqual([]);
    await admin('resetSandbox');
    await expect(say(visitor, 'Hello')).rejects.toThrow(/401/);
  });

  it.each([
    ['an altered token', altered, {}, '401'],
    ['no text', String, { content: '' }, '400.*content must have at least 1 character'],
    ['a long text', String, { content: 'x'.repeat(4001) }, '400.*content must have at most 4000 characters'],
    ['a role', String, { role: 'agent' }, '400.*role is not a known field'],
  ])('is refused with %s', async (_, alter, given, refusal) => {
    const { visitor: aVisitor } = await anOwner();
    const { token } = await aVisitor();
    const sent = api.caller(alter(token))('createWidgetMessage', { body: { content: 'Hello', ...given } });
    await expect(sent).rejects.toThrow(new RegExp(refusal));
  });
});

/** One after another, as a function serves them. @returns the refusals */
async function refusalsOf(sayings: readonly (() => Promise<unknown>)[]): Promise<string[]> {
  const refused: string[] = [];
  for (const saying of sayings) await saying().catch((error: unknown) => refused.push(String(error)));
  return refused;
}

describe('the budget of messages', () => {
  // No minute ends meanwhile.
  beforeEach(() => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() }));
  afterEach(() => vi.useRealTimers());

  it('is 20 a minute for a visitor, who can still read', async () => {
    const { visitor: aVisitor } = await anOwner();
    const { visitor } = await aVisitor();
    const refused = await refusalsOf(Array.from({ length: 30 }, () => () => say(visitor, 'Hello')));

    expect(refused).toHaveLength(10);
    expect(await visitor('readWidgetMessages', { query: { limit: '100' } })).toHaveLength(20);
  });

  it('is that of the tier for many visitors, apart from the organization’s own and from others', async () => {
    const [owner, other] = [await anOwner(), await anOwner()];
    const visitors = await Promise.all(Array.from({ length: VISITORS }, owner.visitor));
    const refused = await refusalsOf(
      visitors.map(
        ({ visitor }) =>
          () =>
            say(visitor, 'Hello'),
      ),
    );

    expect(refused).toHaveLength(10);
    for (const reason of refused) expect(reason).toMatch(/429.*RATE_LIMITED/);
    const [first] = visitors;
    if (first === undefined) throw new Error('there are no visitors');
    await owner.call('createMessage', { params: first.params, body: { role: 'agent', content: 'Hi' } });
    expect(await first.visitor('readWidgetMessages')).toHaveLength(2);
    await say((await other.visitor()).visitor, 'Hello');
  });
});
