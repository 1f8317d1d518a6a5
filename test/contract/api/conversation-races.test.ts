import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { committer } from '../../../functions/aws/transaction.ts';
import {
  applyStateChange,
  type Conversation,
  conversationStore,
  escalationStore,
  messageStore,
  type StateChange,
} from '../../../functions/conversations/conversations.ts';
import { aConversation, NOW } from '../../builders.ts';
import { metered } from '../../support/consumed.ts';
import type { Data } from '../store/api-handlers.ts';
import { cancelTransactions, conflictOnOverlap } from '../store/faults.ts';
import { rowsIn } from '../store/rows.ts';
import { useApi } from './owners.ts';

const { tables, api, commit, enrol } = useApi();

/** A request of the first call of a key: the use of the key. */
const ONLY_FIRST = 1;

const resolved = aConversation({ status: 'resolved', resolvedAt: NOW.toISOString(), resolvedBy: 'first' });
const resolution: StateChange = { kind: 'resolve', by: 'another', at: NOW };

interface Answer {
  status: number;
  data?: Data;
  error?: { type: string; message: string };
  headers: Record<string, unknown>;
}
type Sent = { body?: object; idempotencyKey?: string };

/** A conversation of an organization of its own, and calls of its routes. */
async function aConversationService(conversation: Conversation = aConversation()) {
  const { secret, tenant } = await enrol();
  const { service, outbox } = tables;
  const conversations = conversationStore(service);
  await commit(...conversations.add(tenant, conversation));
  const ask = api.asker(secret);
  const asks =
    (route: 'createMessage' | 'requestHandoff' | 'resolveConversation', content: object) =>
    async (sent: Sent = {}): Promise<Answer> =>
      (await ask(route, { params: { id: conversation.id }, body: content, ...sent })) as unknown as Answer;
  return {
    conversation,
    post: asks('createMessage', { role: 'user', content: 'Hello' }),
    handOff: asks('requestHandoff', {}),
    resolve: asks('resolveConversation', {}),
    /** Changes the state of the conversation as another request does. */
    move: (move: StateChange) =>
      committer(service.client)([conversations.changeState(tenant, conversation.id, move)]),
    find: () => conversations.find(tenant, conversation.id),
    messages: async () =>
      (await messageStore(service).list(tenant, conversation.id, { limit: 100 })).items.map(({ id }) => id),
    escalations: async () =>
      (await escalationStore(service).list(tenant, conversation.id, { limit: 100 })).items,
    /** The data of all events of a type. */
    events: async (type: string): Promise<Data[]> =>
      (await rowsIn(outbox))
        .filter((row) => row.orgId === tenant.orgId && row.type === type)
        .map(({ body }) => JSON.parse(String(body)).data),
  };
}
type Service = Awaited<ReturnType<typeof aConversationService>>;

const times = <T>(count: number, act: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, act));
const withStatus = (answers: Answer[], status: number) =>
  answers.filter((answer) => answer.status === status);
const sorted = (ids: unknown[]) => ids.map(String).toSorted();

/** Runs something before each request of a kind, after the function has begun and before it takes effect. */
function before(command: string, meanwhile: (count: number) => Promise<unknown>): void {
  let count = 0;
  api.client.middlewareStack.add(
    (next, { commandName }) =>
      async (request) => {
        if (commandName === command) {
          count += 1;
          await meanwhile(count);
        }
        return next(request);
      },
    { step: 'initialize' },
  );
}
const beforeTransactions = (meanwhile: (count: number) => Promise<unknown>) =>
  before('TransactWriteItemsCommand', meanwhile);

/** Runs something before the first transaction. */
const beforeTheCommit = (meanwhile: () => Promise<unknown>) =>
  beforeTransactions(async (count) => (count === 1 ? meanwhile() : undefined));

/**
 * Makes the first transactions of so many requests conflict, on any machine: none continues before all have
 * come.
 */
function withConflicts(parties: number): { count(): number } {
  const { promise: all, resolve } = Promise.withResolvers<void>();
  beforeTransactions((count) => {
    if (count === parties) resolve();
    return all;
  });
  return conflictOnOverlap(api.client);
}

/** Checks that each 201 has its message and its event, and that there are no others. */
async function expectNoneLost({ messages, events }: Service, answers: Answer[]): Promise<void> {
  expect(new Set(answers.map(({ status }) => status))).not.toContain(500);
  const created = sorted(withStatus(answers, 201).map(({ data }) => data?.id));
  expect(sorted(await messages())).toEqual(created);
  expect(sorted((await events('message.received')).map(({ messageId }) => messageId))).toEqual(created);
  expect(withStatus(answers, 201).length + withStatus(answers, 503).length).toBe(answers.length);
}

describe('fifty messages posted to one conversation at once', () => {
  /** A message need not update it. */
  const aRecentConversation = () => aConversation({ updatedAt: new Date().toISOString() });

  it('write no common item while it is open and was updated within a minute', async () => {
    const service = await aConversationService(aRecentConversation());
    const conflicts = withConflicts(50);

    const answers = await times(50, service.post);

    expect(conflicts.count()).toBe(0);
    expect(withStatus(answers, 201)).toHaveLength(50);
    await expectNoneLost(service, answers);
  });

  it('all succeed, and one of them updates it, when it was not updated for a minute', async () => {
    const service = await aConversationService();
    const conflicts = withConflicts(50);

    const answers = await times(50, service.post);

    expect(conflicts.count()).toBeGreaterThan(0);
    expect(withStatus(answers, 201)).toHaveLength(50);
    await expectNoneLost(service, answers);
    const times201 = answers.map(({ data }) => data?.createdAt);
    expect(times201).toContain((await service.find())?.updatedAt);
  });

  it('succeed or get a 503, and none is lost, when their transactions conflict', async () => {
    const service = await aConversationService(aRecentConversation());
    const tries = new Map<string, number>();
    // Four transactions in ten conflict each time, the others up to five times.
    cancelTransactions(api.client, ({ ClientRequestToken = '' }) => {
      if (!tries.has(ClientRequestToken)) tries.set(ClientRequestToken, tries.size % 10);
      const left = tries.get(ClientRequestToken) ?? 0;
      if (left > 5) return true;
      tries.set(ClientRequestToken, left - 1);
      return left > 0;
    });

    const answers = await times(50, service.post);

    expect(withStatus(answers, 503)).toHaveLength(20);
    for (const { headers } of withStatus(answers, 503)) expect(headers).toHaveProperty('Retry-After');
    await expectNoneLost(service, answers);
  });

  it('open a resolved conversation, and none is lost when they conflict', async () => {
    const service = await aConversationService(resolved);
    const conflicts = withConflicts(50);

    const answers = await times(50, service.post);

    expect(conflicts.count()).toBeGreaterThan(0);
    expect(withStatus(answers, 201)).not.toHaveLength(0);
    await expectNoneLost(service, answers);
    const reopened = await service.find();
    const at = new Date(reopened?.updatedAt ?? NOW);
    expect(reopened).toEqual(applyStateChange(resolved, { kind: 'reopen', at }));
  });
});

describe('a message to a resolved conversation', () => {
  it('goes to the human when the conversation was opened and handed off meanwhile', async () => {
    const service = await aConversationService(resolved);
    beforeTheCommit(async () => {
      await service.move({ kind: 'reopen', at: NOW });
      await service.move({ kind: 'hand-off', at: NOW });
    });

    const answer = await service.post();

    expect(answer.status).toBe(201);
    await expectNoneLost(service, [answer]);
    expect(await service.find()).toMatchObject({ status: 'handed_off' });
  });

  it('gets a 503 when the conversation changes after each read', async () => {
    const service = await aConversationService(resolved);
    // The conversation is resolved at each read, and open when the message would open it.
    beforeTransactions(async () => service.move({ kind: 'reopen', at: NOW }));
    before('GetItemCommand', () => service.move(resolution));

    const answer = await service.post();

    expect([answer.status, answer.error?.type]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    await expectNoneLost(service, [answer]);
  });
});

describe('a message after another with the same key', () => {
  it('reads the conversation with the key, in one request and for the same units', async () => {
    const service = await aConversationService();
    const consumed = metered(api.client);
    const answers = [await service.post()];
    const first = consumed();

    answers.push(await service.post());

    const second = consumed();
    expect(first.requests - second.requests).toBe(ONLY_FIRST + 1);
    expect(second.reads).toBe(first.reads);
    await expectNoneLost(service, answers);
  });

  it('reads the conversation anew when it changed since', async () => {
    const service = await aConversationService();
    await service.post();
    await service.move(resolution);
    // Opened between the read with the key and the commit.
    beforeTheCommit(() => service.move({ kind: 'reopen', at: NOW }));

    const answer = await service.post();

    expect(answer.status).toBe(201);
    expect(await service.find()).toMatchObject({ status: 'open' });
    expect(await service.messages()).toHaveLength(2);
  });
});

const HAND_OFF: StateChange = { kind: 'hand-off', at: NOW };
const REOPENING: StateChange = { kind: 'reopen', at: NOW };

describe('a change of a conversation that changes meanwhile', () => {
  it.each<
    [change: 'handOff' | 'resolve', when: string, meanwhile: StateChange[], answer: object, end: object]
  >([
    [
      'handOff',
      'resolved',
      [resolution],
      { status: 409, error: { type: 'CONFLICT' } },
      { status: 'resolved' },
    ],
    ['handOff', 'resolved and opened', [resolution, REOPENING], { status: 201 }, { status: 'handed_off' }],
    // The first resolver stays.
    ['resolve', 'resolved', [resolution], { status: 200 }, { status: 'resolved', resolvedBy: 'another' }],
    ['resolve', 'handed off', [HAND_OFF], { status: 200 }, { status: 'resolved', resolvedBy: 'api' }],
    ['resolve', 'resolved and opened', [resolution, REOPENING], { status: 200 }, { resolvedBy: 'api' }],
  ])('has its effect on what is there, and no other: %s of one that was %s', async (change, ...given) => {
    const [, meanwhile, expected, end] = given;
    const service = await aConversationService();
    beforeTheCommit(async () => {
      for (const each of meanwhile) await service.move(each);
    });

    const answer = await service[change]();

    expect(answer).toMatchObject(expected);
    expect(await service.find()).toMatchObject(end);
    const isDone = answer.status === 201 || answer.data?.resolvedBy === 'api';
    const type = change === 'handOff' ? 'handoff.requested' : 'conversation.resolved';
    expect(await service.events(type)).toHaveLength(Number(isDone));
    expect(await service.escalations()).toHaveLength(Number(change === 'handOff' && isDone));
    if (answer.status === 409) expect(answer.error?.message).toMatch(/resolved.*message.*reopen/);
  });
});

describe('a handoff', () => {
  it('succeeds once when twenty are requested at once', async () => {
    const service = await aConversationService();
    const conflicts = withConflicts(20);

    const answers = await times(20, service.handOff);

    expect(conflicts.count()).toBeGreaterThan(0);
    expect(withStatus(answers, 201)).toHaveLength(1);
    expect(withStatus(answers, 200).length + withStatus(answers, 503).length).toBe(19);
    const [{ data } = { data: undefined }] = withStatus(answers, 201);
    for (const other of withStatus(answers, 200)) expect(other.data).toEqual(data);
    expect((await service.escalations()).map(({ id }) => id)).toEqual([data?.id]);
    expect((await service.events('handoff.requested')).map((event) => event.escalationLogId)).toEqual([
      data?.id,
    ]);
  });

  it('changes nothing when the conversation is handed off already, and returns the open escalation', async () => {
    const service = await aConversationService();
    const first = await service.handOff();

    const idempotencyKey = randomUUID();
    const second = await service.handOff({ idempotencyKey });
    const repeated = await service.handOff({ idempotencyKey });

    expect([first.status, second.status, repeated.status]).toEqual([201, 200, 200]);
    expect([second.data, repeated.data]).toEqual([first.data, first.data]);
    expect(await service.escalations()).toHaveLength(1);
    expect(await service.events('handoff.requested')).toHaveLength(1);
  });
});

describe('a resolution', () => {
  it('takes effect once when twenty are requested at once, and all successes have the same answer', async () => {
    const service = await aConversationService();
    const conflicts = withConflicts(20);
    let resolver = 0;

    const answers = await times(20, () => {
      resolver += 1;
      return service.resolve({ body: { resolvedBy: `agent ${resolver}` } });
    });

    expect(conflicts.count()).toBeGreaterThan(0);
    expect(withStatus(answers, 200).length + withStatus(answers, 503).length).toBe(20);
    const resolvers = new Set(withStatus(answers, 200).map(({ data }) => data?.resolvedBy));
    expect(resolvers.size).toBe(1);
    const [resolvedBy] = resolvers;
    expect(await service.find()).toMatchObject({ status: 'resolved', resolvedBy });
    expect(await service.events('conversation.resolved')).toEqual([expect.objectContaining({ resolvedBy })]);
  });

  it('without a change has an idempotency record like any other', async () => {
    const service = await aConversationService(resolved);
    const idempotencyKey = randomUUID();
    const first = await service.resolve({ idempotencyKey });
    await service.move({ kind: 'reopen', at: NOW });

    const again = await service.resolve({ idempotencyKey });

    expect(first).toMatchObject({ status: 200, data: { resolvedBy: 'first' } });
    expect(again).toMatchObject({ status: 200, data: first.data });
    expect(again.headers).toHaveProperty('Idempotency-Replayed', 'true');
    expect(await service.find()).toMatchObject({ status: 'open' });
    expect(await service.events('conversation.resolved')).toEqual([]);
  });
});
