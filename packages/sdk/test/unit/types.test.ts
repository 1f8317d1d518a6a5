import { describe, expectTypeOf, it } from 'vitest';
import type { Client, ItemOf } from '../../src/index.ts';
import type { ReceivedEvent } from '../../src/receiver/index.ts';

/* What does not compile is as much a promise as what does: `npm run lint` compiles this file. */
describe('types', () => {
  it('narrow the data of an event by its type', () => {
    const read = (event: ReceivedEvent): string | undefined => {
      if (event.type === 'message.received') return event.data.messageId;
      if (event.type === 'ticket.created') {
        // @ts-expect-error a ticket has no message
        return event.data.messageId;
      }
      // @ts-expect-error an unknown type, such as a misspelled one
      return event.type === 'message.recieved' ? event.id : undefined;
    };
    expectTypeOf(read).returns.toEqualTypeOf<string | undefined>();
    expectTypeOf<ReceivedEvent<'ticket.created'>['type']>().toEqualTypeOf<'ticket.created'>();
    expectTypeOf<ReceivedEvent['schemaVersion']>().toEqualTypeOf<1>();
  });

  it('know what an operation takes and returns', () => {
    type Created = Awaited<ReturnType<Client['endpoints']['register']>>;
    expectTypeOf<Created['secret']>().toEqualTypeOf<string>();
    expectTypeOf<Awaited<ReturnType<Client['endpoints']['delete']>>>().toEqualTypeOf<undefined>();
    expectTypeOf<ItemOf<'listEvents'>['id']>().toEqualTypeOf<string>();
    expectTypeOf<ItemOf<'listEvents'>['example']>().toEqualTypeOf<boolean | undefined>();
    const call = (client: Client) => {
      client.events.list({ type: ['ticket.created'] });
      // @ts-expect-error an unknown event type
      client.events.list({ type: ['ticket.made'] });
      // @ts-expect-error an endpoint needs event types
      return client.endpoints.register({ url: 'https://receiver.example' });
    };
    expectTypeOf(call).toBeFunction();
  });
});
