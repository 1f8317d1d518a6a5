import { until } from 'aws-local/test/until.ts';
import { beforeAll, expect } from 'vitest';
import type { ReceivedDelivery } from '../../../../packages/cli/src/receiver/receiver.ts';
import type { Answer, Data } from '../../../support/api.ts';
import type { Organization } from '../an-organization.ts';
import { ok } from '../receivers.ts';

export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** The digits of an identifier that names nothing. */
export const ABSENT = '0'.repeat(12).concat('7000a000000000000000');
export const conversationPath = (id: unknown) => `/api/v1/conversations/${id}`;

/** The data of a successful answer. */
export function dataOf(answer: Answer, status: number): Data {
  expect([answer.status, answer.body.error]).toEqual([status, undefined]);
  return answer.body.data ?? expect.fail('data was to be answered');
}

interface Envelope {
  type: string;
  data: Record<string, unknown>;
}

/** Calls about conversations, and the events of them that a receiver gets. */
export function conversationCalls(organization: Organization) {
  let received: ReceivedDelivery[] = [];
  beforeAll(async () => {
    ({ received } = await organization.subscribe(ok, [
      'message.received',
      'handoff.requested',
      'conversation.resolved',
      'ticket.created',
    ]));
  });

  const createTicket = (body?: unknown) => organization.api.post('/api/v1/tickets', body);

  /** The data of the received events of a type where a field has a value. A repeated delivery counts once. */
  function arrived(type: string, field: string, value: unknown): Record<string, unknown>[] {
    const events = new Map(
      received.map(({ headers, body }): [string | undefined, Envelope] => [
        headers['webhook-id'],
        JSON.parse(body.toString()),
      ]),
    );
    return [...events.values()].flatMap((event) =>
      event.type === type && event.data[field] === value ? [event.data] : [],
    );
  }

  /**
   * Waits for so many events.
   * @returns all that have arrived by then
   */
  const eventsOf = (type: string, field: string, value: unknown, count = 1) =>
    until(`${count} ${type} with ${field} ${value}`, () => {
      const events = arrived(type, field, value);
      return events.length >= count && events;
    });

  return {
    handOff: (id: unknown, body?: unknown, headers = {}) =>
      organization.api.post(`${conversationPath(id)}/handoff`, body, headers),
    resolve: (id: unknown, body?: unknown, headers = {}) =>
      organization.api.post(`${conversationPath(id)}/resolve`, body, headers),
    say: (id: unknown, content = 'Hello') =>
      organization.api.post(`${conversationPath(id)}/messages`, { role: 'user', content }),
    createTicket,
    read: async (id: unknown) => dataOf(await organization.api.get(conversationPath(id)), 200),
    log: (id: unknown) => organization.api.all(`${conversationPath(id)}/escalations`),
    arrived,
    eventsOf,

    /** Checks that the location of the answer reads as the answer. */
    async expectReadable(answer: Answer, location: string): Promise<void> {
      expect(answer.headers.location).toBe(location);
      expect((await organization.api.get(location)).body).toEqual(answer.body);
    },

    /** Waits for an event that was caused later, before a test asserts that an event did not arrive. */
    async laterEventHasArrived(): Promise<void> {
      const { id } = dataOf(await createTicket(), 201);
      await eventsOf('ticket.created', 'ticketId', id);
    },
  };
}
