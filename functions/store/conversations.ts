import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { Conversation } from '../domain/conversation.ts';
import type { ConversationId } from '../domain/ids.ts';
import type { Tenant } from '../domain/tenant.ts';
import { partition } from './collection.ts';
import { CONVERSATION_SHARDS, keys, shards } from './keys.ts';
import { newestFirst, type Page, type PageRequest } from './pages.ts';
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
      return addition(service, { ...keys.conversation(tenant, conversation.id), ...conversation });
    },

    /**
     * A message to a resolved conversation opens it again (decisions.md, Conversations). One that was opened meanwhile is as
     * good: of several messages at once all get through.
     */
    reopen(tenant: Tenant, id: ConversationId): Change {
      return {
        refusal: 'conversation-changed',
        write: {
          Update: {
            TableName: service.name,
            Key: keys.conversation(tenant, id),
            UpdateExpression: 'SET #status = :open',
            ConditionExpression: '#status IN (:resolved, :open)',
            ExpressionAttributeNames: { '#status': 'status' },
            ExpressionAttributeValues: { ':open': 'open', ':resolved': 'resolved' },
          },
        },
      };
    },
  };
}
