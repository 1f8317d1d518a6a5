import { until } from 'aws-local/test/until.ts';
import { beforeAll, expect } from 'vitest';
import type { ReceivedDelivery } from '../../../../lib/cli/receiver/receiver.ts';
import type { Answer, Data } from '../../../support/api.ts';
import type { Organization } from '../an-organization.ts';
import { ok } from '../receivers.ts';

export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** The body of an identifier that nothing has. */
export const ABSENT = '0'.repeat(12).concat('7000a000000000000000');
export const conversationPath = (id: unknown) => `/api/v1/conversations/${id}`;

/** What a success answers. */
export function dataOf(answer: Answer, status: number): Data {
  expect([answer.status, answer.body.error]).toEqual([status, undefined]);
  return answer.body.data ?? expect.fail('data was to be answered');
}

interface Envelope {
  type: string;
  data: Record<string, unknown>;
}

/** Calls about conversations, and the events that they cause, which a receiver of this file's run takes. */
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

  /**
   * The data of the events of a type that have arrived and in which a field has a value. One that came twice
   * counts once.
   */
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

  /** Waits until so many have arrived, and gives all that have by then. */
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

    /** What was created can be read where its answer says, as it was answered. */
    async expectReadable(answer: Answer, location: string): Promise<void> {
      expect(answer.headers.location).toBe(location);
      expect((await organization.api.get(location)).body).toEqual(answer.body);
    },

    /**
     * Before something is said not to have arrived: an event that was caused later is there, so it would be
     * as well.
     */
    async laterEventHasArrived(): Promise<void> {
      const { id } = dataOf(await createTicket(), 201);
      await eventsOf('ticket.created', 'ticketId', id);
    },
  };
}
