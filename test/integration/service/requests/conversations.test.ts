import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { anOrganization } from '../an-organization.ts';
import { aPlace } from '../place.ts';
import { ABSENT, conversationCalls, conversationPath, dataOf, TIMESTAMP } from './conversation-calls.ts';
import { expectProblem } from './expect-problem.ts';

const organization = anOrganization(aPlace('withoutWaits'));
const {
  handOff,
  resolve,
  say,
  createTicket,
  read,
  log,
  expectReadable,
  eventsOf,
  arrived,
  laterEventHasArrived,
} = conversationCalls(organization);

/** Bodies without the optional fields. */
const EMPTY: [string, unknown][] = [
  ['no body', undefined],
  ['an empty body', {}],
];

describe('a handoff', () => {
  it('adds an entry to the escalation log and sends an event with the reason', async () => {
    const conversation = await organization.api.createConversation();
    const answer = await handOff(conversation, { reason: 'asked for a person' });

    const escalation = dataOf(answer, 201);
    expect(escalation).toEqual({
      id: expect.stringMatching(/^esc_[0-9a-f]{32}$/),
      conversationId: conversation,
      reason: 'asked for a person',
      createdAt: expect.stringMatching(TIMESTAMP),
    });
    await expectReadable(answer, `${conversationPath(conversation)}/escalations/${escalation.id}`);
    expect(await log(conversation)).toEqual([escalation]);
    expect(await read(conversation)).toMatchObject({ status: 'handed_off', resolvedBy: null });
    expect(await eventsOf('handoff.requested', 'conversationId', conversation)).toEqual([
      { conversationId: conversation, escalationLogId: escalation.id, reason: 'asked for a person' },
    ]);
  });

  it.each(EMPTY)('without a reason, with %s, sends an event without one', async (_, body) => {
    const conversation = await organization.api.createConversation();

    const escalation = dataOf(await handOff(conversation, body), 201);

    expect(escalation).toMatchObject({ reason: null });
    expect(await eventsOf('handoff.requested', 'conversationId', conversation)).toEqual([
      { conversationId: conversation, escalationLogId: escalation.id },
    ]);
  });

  it('changes the conversation once when twenty are requested at once, and the others get its escalation', async () => {
    const conversation = await organization.api.createConversation();

    const answers = await Promise.all(Array.from({ length: 20 }, () => handOff(conversation)));

    const successes = answers.filter(({ status }) => status === 201);
    expect(successes).toHaveLength(1);
    for (const answer of answers.filter((each) => !successes.includes(each)))
      expect([answer.status, answer.body.data]).toEqual([200, successes[0]?.body.data]);
    expect(await log(conversation)).toEqual([successes[0]?.body.data]);
    await laterEventHasArrived();
    expect(arrived('handoff.requested', 'conversationId', conversation)).toHaveLength(1);
  });

  it('is a conflict while the conversation is resolved, until a message opens it', async () => {
    const conversation = await organization.api.createConversation();
    const first = dataOf(await handOff(conversation, { reason: 'the first time' }), 201);
    dataOf(await resolve(conversation), 200);

    expectProblem(await handOff(conversation), 409, 'CONFLICT', /resolved.*message/);
    expect(await log(conversation)).toEqual([first]);

    dataOf(await say(conversation), 201);
    const second = dataOf(await handOff(conversation, { reason: 'again' }), 201);
    expect(await log(conversation)).toEqual([second, first]);
  });
});

describe('a resolved conversation', () => {
  it('has a time and a resolver, and causes an event', async () => {
    const conversation = await organization.api.createConversation();
    const before = await read(conversation);
    expect(before).toMatchObject({ status: 'open', resolvedAt: null, resolvedBy: null });

    const resolved = dataOf(await resolve(conversation, { resolvedBy: 'agent-7' }), 200);

    expect(resolved).toEqual({
      ...before,
      status: 'resolved',
      resolvedAt: expect.stringMatching(TIMESTAMP),
      resolvedBy: 'agent-7',
      updatedAt: resolved.resolvedAt,
    });
    expect(await read(conversation)).toEqual(resolved);
    expect(await organization.api.all('/api/v1/conversations')).toContainEqual(resolved);
    expect(await eventsOf('conversation.resolved', 'conversationId', conversation)).toEqual([
      { conversationId: conversation, resolvedBy: 'agent-7' },
    ]);
  });

  it.each(EMPTY)('is resolved by `api` when the call has %s', async (_, body) => {
    const conversation = await organization.api.createConversation();
    await handOff(conversation);

    expect(dataOf(await resolve(conversation, body), 200)).toMatchObject({ resolvedBy: 'api' });

    expect(await eventsOf('conversation.resolved', 'conversationId', conversation)).toEqual([
      { conversationId: conversation, resolvedBy: 'api' },
    ]);
  });

  it('does not change, and causes no event, when it is resolved again', async () => {
    const conversation = await organization.api.createConversation();
    const first = dataOf(await resolve(conversation, { resolvedBy: 'the first' }), 200);
    const key = { 'idempotency-key': randomUUID() };

    const second = await resolve(conversation, { resolvedBy: 'the second' }, key);
    const repeated = await resolve(conversation, { resolvedBy: 'the second' }, key);

    expect(dataOf(second, 200)).toEqual(first);
    expect(dataOf(repeated, 200)).toEqual(first);
    expect(repeated.headers['idempotency-replayed']).toBe('true');
    await laterEventHasArrived();
    expect(arrived('conversation.resolved', 'conversationId', conversation)).toHaveLength(1);
  });

  it('has one answer and one event when twenty calls resolve it at once', async () => {
    const conversation = await organization.api.createConversation();

    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => resolve(conversation, { resolvedBy: `agent-${index}` })),
    );

    const resolved = await read(conversation);
    expect(resolved).toMatchObject({
      status: 'resolved',
      resolvedBy: expect.stringMatching(/^agent-\d+$/),
    });
    for (const answer of answers) expect(dataOf(answer, 200)).toEqual(resolved);
    await laterEventHasArrived();
    const events = arrived('conversation.resolved', 'conversationId', conversation);
    expect(events).toEqual([{ conversationId: conversation, resolvedBy: resolved.resolvedBy }]);
  });
});

describe('a message', () => {
  it('is readable at its location, and in no other conversation', async () => {
    const [conversation, other] = [
      await organization.api.createConversation(),
      await organization.api.createConversation(),
    ];
    const answer = await say(conversation, 'Can you help me?');

    const { id } = dataOf(answer, 201);
    await expectReadable(answer, `${conversationPath(conversation)}/messages/${id}`);
    expectProblem(
      await organization.api.get(`${conversationPath(other)}/messages/${id}`),
      404,
      'NOT_FOUND',
      /No such message/,
    );
  });

  it('opens a resolved conversation, which can be resolved again', async () => {
    const conversation = await organization.api.createConversation();
    const before = await read(conversation);
    dataOf(await resolve(conversation, { resolvedBy: 'first' }), 200);

    const messages = await Promise.all(Array.from({ length: 10 }, () => say(conversation)));

    for (const message of messages) dataOf(message, 201);
    expect(await read(conversation)).toEqual({ ...before, updatedAt: expect.stringMatching(TIMESTAMP) });
    expect(await organization.api.all(`${conversationPath(conversation)}/messages`)).toHaveLength(10);
    expect(await eventsOf('message.received', 'conversationId', conversation, 10)).toHaveLength(10);

    dataOf(await resolve(conversation, { resolvedBy: 'second' }), 200);
    const events = await eventsOf('conversation.resolved', 'conversationId', conversation, 2);
    expect(events.map(({ resolvedBy }) => resolvedBy).toSorted()).toEqual(['first', 'second']);
  });

  it('does not take a conversation back from a human', async () => {
    const conversation = await organization.api.createConversation();
    await handOff(conversation);
    dataOf(await say(conversation), 201);
    expect(await read(conversation)).toMatchObject({ status: 'handed_off' });
  });
});

describe('a ticket', () => {
  it('with a conversation and a reason has both in its event', async () => {
    const conversation = await organization.api.createConversation();
    const answer = await createTicket({
      conversationId: conversation,
      reason: 'no agent available',
    });

    const ticket = dataOf(answer, 201);
    expect(ticket).toEqual({
      id: expect.stringMatching(/^tkt_[0-9a-f]{32}$/),
      conversationId: conversation,
      reason: 'no agent available',
      status: 'open',
      metadata: {},
      createdAt: expect.stringMatching(TIMESTAMP),
    });
    await expectReadable(answer, `/api/v1/tickets/${ticket.id}`);
    expect(await eventsOf('ticket.created', 'ticketId', ticket.id)).toEqual([
      { ticketId: ticket.id, conversationId: conversation, reason: 'no agent available' },
    ]);
  });

  it.each(EMPTY)('created with %s has only its identifier in its event', async (_, body) => {
    const answer = await createTicket(body);

    const ticket = dataOf(answer, 201);
    expect(ticket).toMatchObject({ conversationId: null, reason: null });
    await expectReadable(answer, `/api/v1/tickets/${ticket.id}`);
    expect(await eventsOf('ticket.created', 'ticketId', ticket.id)).toEqual([{ ticketId: ticket.id }]);
  });

  it('is listed, newest first', async () => {
    const made: unknown[] = [];
    for (let count = 0; count < 12; count++)
      made.push(dataOf(await createTicket({ reason: `ticket ${count}` }), 201));

    const listed = await organization.api.all('/api/v1/tickets');

    // Identifiers of one millisecond have no order.
    expect(listed.map(({ id }) => id)).toEqual(
      listed
        .map(({ id }) => id)
        .toSorted()
        .reverse(),
    );
    expect(listed.slice(0, 12)).toEqual(expect.arrayContaining(made));
  });

  it('for an unknown conversation is refused and not created', async () => {
    const before = await organization.api.all('/api/v1/tickets');

    expectProblem(
      await createTicket({ conversationId: `cnv_${ABSENT}` }),
      404,
      'NOT_FOUND',
      /^No such conversation\.$/,
    );

    expect(await organization.api.all('/api/v1/tickets')).toEqual(before);
  });
});

describe('an invalid field', () => {
  it.each([
    ['handoff', { reason: '' }, /^reason /],
    ['resolve', { resolvedBy: 7 }, /^resolvedBy /],
    ['resolve', null, /body/],
  ])('is refused by %s: %j', async (operation, body, message) => {
    const conversation = await organization.api.createConversation();
    const answer = await organization.api.post(`${conversationPath(conversation)}/${operation}`, body);
    expectProblem(answer, 400, 'VALIDATION_ERROR', message);
    expect(await read(conversation)).toMatchObject({ status: 'open' });
  });
});

describe('an unknown resource', () => {
  const absent = conversationPath(`cnv_${ABSENT}`);

  it.each([
    ['POST', `${absent}/handoff`, /No such conversation/],
    ['POST', `${absent}/resolve`, /No such conversation/],
    ['GET', `${absent}/escalations`, /No such conversation/],
    ['GET', `${absent}/escalations/esc_${ABSENT}`, /No such escalation log entry/],
    ['GET', `${absent}/messages/msg_${ABSENT}`, /No such message/],
    ['GET', `/api/v1/tickets/tkt_${ABSENT}`, /No such ticket/],
    ['GET', '/api/v1/tickets/nonsense', /No such/],
    ['GET', `${absent}/messages/nonsense`, /No such/],
  ])('is a 404: %s %s', async (method, path, message) => {
    expectProblem(await organization.api.call({ method, path }), 404, 'NOT_FOUND', message);
  });

  it('includes one of another conversation', async () => {
    const [conversation, other] = [
      await organization.api.createConversation(),
      await organization.api.createConversation(),
    ];
    const { id } = dataOf(await handOff(conversation), 201);

    const answer = await organization.api.get(`${conversationPath(other)}/escalations/${id}`);

    expectProblem(answer, 404, 'NOT_FOUND', /No such escalation log entry/);
    expect(await log(other)).toEqual([]);
  });
});
