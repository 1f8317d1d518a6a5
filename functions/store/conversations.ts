import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { Conversation, MOVES, type Move } from '../domain/conversation.ts';
import type { ConversationId } from '../domain/ids.ts';
import type { Tenant } from '../domain/tenant.ts';
import { CONVERSATION_SHARDS, keys, markOf, shards } from './keys.ts';
import { newestFirst, type Page, type PageRequest, partition } from './pages.ts';
import type { Table } from './table.ts';
import { addition, type Change } from './transaction.ts';

export function conversationStore(service: Table) {
  return {
    async find(tenant: Tenant, id: ConversationId): Promise<Conversation | undefined> {
      const { Item } = await service.client.send(
        new GetCommand({ TableName: service.name, Key: keys.conversation(tenant, id), ConsistentRead: true }),
      );
      return Item && Conversation.parse(Item);
    },

    list(tenant: Tenant, page: PageRequest): Promise<Page<Conversation>> {
      const partitions = shards(CONVERSATION_SHARDS).map((shard) =>
        partition(service, keys.conversations(tenant, shard), (row) => Conversation.parse(row)),
      );
      return newestFirst(partitions, page);
    },

    add(tenant: Tenant, conversation: Conversation): Change {
      return addition(service, {
        ...keys.conversation(tenant, conversation.id),
        ...markOf(tenant),
        ...conversation,
      });
    },

    /** Moves a conversation from one of the states that the move may leave; refused as `conversation-changed` from any other. */
    move(tenant: Tenant, id: ConversationId, move: Move): Change {
      const { from, to } = MOVES[move.kind];
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
