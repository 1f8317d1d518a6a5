import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BusEvent } from '../../../functions/domain/bus.ts';
import type { Channel } from '../../../functions/domain/channel.ts';
import { MessageRole, type OutboxEvent } from '../../../functions/domain/events.ts';
import { channelEventId, type EventId, newId } from '../../../functions/domain/ids.ts';
import type { Tenant } from '../../../functions/domain/tenant.ts';
import { UnknownTenant } from '../../../functions/engine/generations.ts';
import { NothingToRelay, type RelayPorts, relay } from '../../../functions/engine/relay.ts';
import {
  aBusEvent,
  aConversation,
  aMessage,
  anHttpChannel,
  aSandboxTenant,
  aTenant,
  aWebWidget,
  NOW,
} from '../../builders.ts';
import { memoryStandings } from '../../doubles/memory-standings.ts';

type Role = (typeof MessageRole.options)[number];

interface Given {
  tenant?: Tenant;
  role?: Role;
  channel?: Channel | undefined;
  /** What the conversation says, where it is not the channel. */
  channelId?: string;
  replaced?: Partial<RelayPorts>;
}

/** A message in a conversation on a channel, and the relay behind the bus, over stores in memory. */
function aRelay(given: Given = {}) {
  const { tenant = aTenant(), role = 'agent', replaced = {} } = given;
  const channel = 'channel' in given ? given.channel : anHttpChannel({ orgId: tenant.orgId });
  const { channelId = channel?.id ?? 'web' } = given;
  const standings = memoryStandings();
  if (tenant.generation > 0) standings.makeSandbox(tenant.orgId);
  const conversation = aConversation({ channelId });
  const message = aMessage({ conversationId: conversation.id, role });
  const outbox = new Map<EventId, OutboxEvent>();
  const asked: Tenant[] = [];
  const ports: RelayPorts = {
    standings,
    conversations: {
      async find(of, id) {
        asked.push(of);
        return id === conversation.id ? conversation : undefined;
      },
    },
    messages: {
      async find(of, _, id) {
        asked.push(of);
        return id === message.id ? message : undefined;
      },
    },
    channels: {
      find: async (orgId, id) => (channel?.id === id && channel.orgId === orgId ? channel : undefined),
    },
    outbox: {
      async add(event) {
        if (outbox.has(event.id)) return 'exists';
        outbox.set(event.id, event);
        return 'added';
      },
    },
    ...replaced,
  };
  const event = (changes: Partial<BusEvent> = {}) =>
    aBusEvent({
      ...tenant,
      data: { conversationId: conversation.id, messageId: message.id, role },
      ...changes,
    });
  return { run: relay(ports), event, outbox, standings, asked, channel, conversation, message, tenant };
}

describe('a message of an agent or the assistant', () => {
  it.each(['agent', 'assistant'] as const)(
    'is added to the outbox for its http channel alone: %s',
    async (role) => {
      const { run, event, outbox, channel, message } = aRelay({ role });
      const cause = event();

      await run(cause);

      const [told, ...others] = outbox.values();
      expect(others).toEqual([]);
      expect(told).toMatchObject({
        id: channel && channelEventId(cause.id as EventId, channel.id),
        type: 'channel.message',
        onlyTo: channel?.id,
        createdAt: cause.createdAt,
      });
      expect(JSON.parse(told?.body ?? '').data).toMatchObject({
        messageId: message.id,
        role,
        content: 'Hello',
      });
    },
  );

  it('is added once, however often the bus tells of it', async () => {
    const { run, event, outbox } = aRelay();
    const cause = event();
    await run(cause);
    const first = [...outbox.values()];

    await Promise.all([run(cause), run(cause), run({ ...cause })]);

    expect([...outbox.values()]).toEqual(first);
  });

  it('comes again when the outbox fails, and is then added', async () => {
    const { run, event, outbox } = aRelay();
    const down = aRelay({
      replaced: {
        outbox: {
          async add() {
            throw new Error('the table is throttled');
          },
        },
      },
    });
    await expect(down.run(down.event())).rejects.toThrow('throttled');
    await run(event());
    expect(outbox.size).toBe(1);
  });

  it('is handed on in a sandbox as well: the gate is behind the dispatcher', async () => {
    const tenant = aSandboxTenant();
    const { run, event, outbox } = aRelay({ tenant });
    await run(event());
    expect([...outbox.values()]).toMatchObject([tenant]);
  });
});

describe('nothing is handed on', () => {
  it.each([
    ['to a web widget', { channel: aWebWidget() }],
    ['to a channel that is gone', { channel: undefined, channelId: newId('chn', NOW) }],
    ['for a label of the customer’s own', { channel: undefined, channelId: 'chn_web' }],
    ['to a channel of another organization', { channel: anHttpChannel() }],
    ['of what a user said', { role: 'user' as Role }],
    ['of what the system noted', { role: 'system' as Role }],
  ])('%s', async (_, given) => {
    const { run, event, outbox } = aRelay(given);
    await run(event());
    expect([...outbox]).toEqual([]);
  });

  it('of a generation that a reset has wiped, and none of its rows is read', async () => {
    const { run, event, outbox, standings, asked, tenant } = aRelay({ tenant: aSandboxTenant() });
    standings.reset(tenant.orgId);
    await run(event());
    expect([...outbox, ...asked]).toEqual([]);
  });
});

describe('the message comes again', () => {
  it.each(['conversation', 'message'] as const)('when its %s is not there', async (what) => {
    const none = { find: async () => undefined };
    const { run, event } = aRelay({
      replaced: what === 'conversation' ? { conversations: none } : { messages: none },
    });
    await expect(run(event())).rejects.toThrow(NothingToRelay);
  });

  it('when nothing can be said of its organization', async () => {
    const { run, event, standings, tenant } = aRelay();
    standings.forget(tenant.orgId);
    await expect(run(event())).rejects.toThrow(UnknownTenant);
  });

  it('when it is none that the relay knows', async () => {
    const { run, event } = aRelay();
    for (const changes of [{ type: 'ticket.created' }, { data: {} }, { id: 'x' }])
      await expect(run(event(changes))).rejects.toThrow();
  });
});

describe('whoever says what where', () => {
  it('exactly the words of agents and assistants on an http channel of the organization are handed on', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...MessageRole.options),
        fc.constantFrom('http', 'web_widget', 'gone', 'foreign'),
        fc.boolean(),
        async (role, kind, isSandbox) => {
          const tenant = isSandbox ? aSandboxTenant() : aTenant();
          const channels: Record<typeof kind, Channel | undefined> = {
            http: anHttpChannel({ orgId: tenant.orgId }),
            web_widget: aWebWidget({ orgId: tenant.orgId }),
            gone: undefined,
            foreign: anHttpChannel(),
          };
          const { run, event, outbox } = aRelay({
            tenant,
            role,
            channel: channels[kind],
            channelId: channels[kind]?.id ?? newId('chn', NOW),
          });
          await run(event());
          const expected = kind === 'http' && (role === 'agent' || role === 'assistant');
          expect(outbox.size).toBe(expected ? 1 : 0);
        },
      ),
    );
  });
});
