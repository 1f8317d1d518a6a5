import { until } from 'aws-local/test/until.ts';
import { expect, it } from 'vitest';
import type { Answer, Data } from '../../../support/api.ts';
import { anOrganization } from '../an-organization.ts';
import { aPlace } from '../place.ts';
import { ok } from '../receivers.ts';

/* What happens to a conversation, from its request to the event that a receiver gets. */
const organization = anOrganization(aPlace());

/** The data of a created or changed resource, which its location or path shows. */
async function shown(answer: Answer, status: number, path = String(answer.headers.location)): Promise<Data> {
  expect([answer.status, answer.body.error]).toEqual([status, undefined]);
  const { data } = answer.body;
  expect((await organization.api.get(path)).body.data).toEqual(data);
  return data ?? expect.fail('data was to be answered');
}

it('every change of a conversation is shown, and causes its event once', async () => {
  const { api } = organization;
  const types = ['message.received', 'handoff.requested', 'conversation.resolved', 'ticket.created'];
  const { received } = await organization.subscribe(ok, types);
  const conversationId = await api.createConversation();
  const path = `/api/v1/conversations/${conversationId}`;
  const reason = 'asked for a person';

  const escalation = await shown(await api.post(`${path}/handoff`, { reason }), 201);
  expect(await api.post(`${path}/handoff`)).toMatchObject({ status: 200, body: { data: escalation } });
  const resolved = await shown(await api.post(`${path}/resolve`, { resolvedBy: 'agent-7' }), 200, path);
  expect(resolved).toMatchObject({ status: 'resolved', resolvedBy: 'agent-7' });
  expect(await api.post(`${path}/resolve`)).toMatchObject({ status: 200, body: { data: resolved } });
  expect((await api.post(`${path}/handoff`)).body.error?.message).toMatch(/resolved.*message/);
  const message = await shown(await api.post(`${path}/messages`, { role: 'user', content: 'Hello' }), 201);
  expect((await api.get(path)).body.data).toMatchObject({ status: 'open', resolvedAt: null });
  const ticket = await shown(await api.post('/api/v1/tickets', { conversationId, reason }), 201);
  const plain = await shown(await api.post('/api/v1/tickets'), 201);

  const expected = [
    ['handoff.requested', { conversationId, escalationLogId: escalation.id, reason }],
    ['conversation.resolved', { conversationId, resolvedBy: 'agent-7' }],
    ['message.received', { conversationId, messageId: message.id, role: 'user' }],
    ['ticket.created', { ticketId: ticket.id, conversationId, reason }],
    ['ticket.created', { ticketId: plain.id }],
  ];
  const events = await until('the events', () => {
    const all = new Map(
      received.map(({ headers, body }) => [headers['webhook-id'], JSON.parse(body.toString())]),
    );
    return all.size >= expected.length && [...all.values()].map(({ type, data }) => [type, data]);
  });
  expect(events).toHaveLength(expected.length);
  expect(events).toEqual(expect.arrayContaining(expected));
});
