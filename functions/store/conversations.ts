import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import {
  Conversation,
  Escalation,
  Message,
  STATE_CHANGES,
  type StateChange,
  Ticket,
} from '../domain/conversation.ts';
import type { ConversationId, EscalationId, MessageId, TicketId } from '../domain/ids.ts';
import type { Tenant } from '../domain/tenant.ts';
import { followPartition } from './following.ts';
import { buildSandboxMark, CONVERSATION_SHARDS, keys, listShards, TICKET_SHARDS } from './keys.ts';
import { type Page, type PageRequest, partitionReader, readNewestFirst } from './pages.ts';
import type { Table } from './table.ts';
import { buildAddition, type Change } from './transaction.ts';

export function conversationStore(service: Table) {
  return {
    async find(tenant: Tenant, id: ConversationId): Promise<Conversation | undefined> {
      const { Item } = await service.client.send(
        new GetCommand({ TableName: service.name, Key: keys.conversation(tenant, id), ConsistentRead: true }),
      );
      return Item && Conversation.parse(Item);
    },

    list(tenant: Tenant, page: PageRequest): Promise<Page<Conversation>> {
      const partitions = listShards(CONVERSATION_SHARDS).map((shard) =>
        partitionReader(service, keys.conversations(tenant, shard), (row) => Conversation.parse(row)),
      );
      return readNewestFirst(partitions, page);
    },

    add(tenant: Tenant, conversation: Conversation): Change {
      return buildAddition(service, {
        ...keys.conversation(tenant, conversation.id),
        ...buildSandboxMark(tenant),
        ...conversation,
      });
    },

    /** Changes a conversation's state; refused as `conversation-changed` when its state does not allow it. */
    changeState(tenant: Tenant, id: ConversationId, move: StateChange): Change {
      const { from, to } = STATE_CHANGES[move.kind];
      const states = Object.fromEntries(from.map((status, index) => [`:from${index}`, status]));
      return {
        refusal: 'conversation-changed',
        write: {
          Update: {
            TableName: service.name,
            Key: keys.conversation(tenant, id),
            UpdateExpression:
              move.kind === 'resolve'
                ? 'SET #status = :to, resolvedAt = :at, resolvedBy = :by'
                : 'SET #status = :to REMOVE resolvedAt, resolvedBy',
            ConditionExpression: `#status IN (${Object.keys(states).join(', ')})`,
            ExpressionAttributeNames: { '#status': 'status' },
            ExpressionAttributeValues: {
              ...states,
              ':to': to,
              ...(move.kind === 'resolve' ? { ':at': move.at.toISOString(), ':by': move.by } : {}),
            },
          },
        },
      };
    },
  };
}

/** Messages of a conversation. Callers check first that the conversation belongs to the tenant. */
export function messageStore(service: Table) {
  return {
    async find(tenant: Tenant, conversation: ConversationId, id: MessageId): Promise<Message | undefined> {
      const { Item } = await service.client.send(
        new GetCommand({
          TableName: service.name,
          Key: keys.message(tenant, conversation, id),
          ConsistentRead: true,
        }),
      );
      return Item && Message.parse(Item);
    },

    list(tenant: Tenant, conversation: ConversationId, page: PageRequest): Promise<Page<Message>> {
      const pk = keys.messages(tenant, conversation);
      return readNewestFirst([partitionReader(service, pk, (row) => Message.parse(row))], page);
    },

    /** Reads messages as soon as they are committed, consistently, and each of them once. */
    follow(
      tenant: Tenant,
      conversation: ConversationId,
      page: PageRequest,
      now: Date,
    ): Promise<Page<Message>> {
      const pk = keys.messages(tenant, conversation);
      return followPartition(service, { pk, prefix: 'msg' }, (row) => Message.parse(row), page, now);
    },

    add(tenant: Tenant, message: Message): Change {
      return buildAddition(service, {
        ...keys.message(tenant, message.conversationId, message.id),
        ...buildSandboxMark(tenant),
        ...message,
      });
    },
  };
}

/** Escalation logs of conversations. Callers check first that the conversation belongs to the tenant. */
export function escalationStore(service: Table) {
  return {
    async find(
      tenant: Tenant,
      conversation: ConversationId,
      id: EscalationId,
    ): Promise<Escalation | undefined> {
      const { Item } = await service.client.send(
        new GetCommand({
          TableName: service.name,
          Key: keys.escalation(tenant, conversation, id),
          ConsistentRead: true,
        }),
      );
      return Item && Escalation.parse(Item);
    },

    list(tenant: Tenant, conversation: ConversationId, page: PageRequest): Promise<Page<Escalation>> {
      const pk = keys.escalations(tenant, conversation);
      return readNewestFirst([partitionReader(service, pk, (row) => Escalation.parse(row))], page);
    },

    /** The latest escalation of a conversation that was handed off. */
    async latest(tenant: Tenant, conversation: ConversationId): Promise<Escalation> {
      const { Items = [] } = await service.client.send(
        new QueryCommand({
          TableName: service.name,
          ConsistentRead: true,
          Limit: 1,
          ScanIndexForward: false,
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: { ':pk': keys.escalations(tenant, conversation) },
        }),
      );
      return Escalation.parse(Items[0]);
    },

    add(tenant: Tenant, escalation: Escalation): Change {
      return buildAddition(service, {
        ...keys.escalation(tenant, escalation.conversationId, escalation.id),
        ...buildSandboxMark(tenant),
        ...escalation,
      });
    },
  };
}

export function ticketStore(service: Table) {
  return {
    async find(tenant: Tenant, id: TicketId): Promise<Ticket | undefined> {
      const { Item } = await service.client.send(
        new GetCommand({ TableName: service.name, Key: keys.ticket(tenant, id), ConsistentRead: true }),
      );
      return Item && Ticket.parse(Item);
    },

    list(tenant: Tenant, page: PageRequest): Promise<Page<Ticket>> {
      const partitions = listShards(TICKET_SHARDS).map((shard) =>
        partitionReader(service, keys.tickets(tenant, shard), (row) => Ticket.parse(row)),
      );
      return readNewestFirst(partitions, page);
    },

    add(tenant: Tenant, ticket: Ticket): Change {
      return buildAddition(service, {
        ...keys.ticket(tenant, ticket.id),
        ...buildSandboxMark(tenant),
        ...ticket,
      });
    },
  };
}
