import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { Message } from '../domain/conversation.ts';
import type { ConversationId, MessageId } from '../domain/ids.ts';
import type { Tenant } from '../domain/tenant.ts';
import { keys, markOf } from './keys.ts';
import { newestFirst, type Page, type PageRequest, partition } from './pages.ts';
import { readRows, type Table } from './table.ts';
import { addition, type Change } from './transaction.ts';

/** Messages of a conversation. Whether the conversation is the tenant's is for the caller to have checked. */
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
      return newestFirst([partition(service, pk, (row) => Message.parse(row))], page);
    },

    /**
     * The messages that came after one, oldest first. Consistent.
     * @param after the identifier of the last one seen; from the beginning without it
     * @param limit of the messages looked at, whatever their role
     */
    async after(
      tenant: Tenant,
      conversation: ConversationId,
      { after, limit }: { after: MessageId | undefined; limit: number },
    ): Promise<Message[]> {
      const { Items = [] } = await service.client.send(
        new QueryCommand({
          TableName: service.name,
          ConsistentRead: true,
          Limit: limit,
          KeyConditionExpression: after === undefined ? 'pk = :pk' : 'pk = :pk AND sk > :after',
          ExpressionAttributeValues: {
            ':pk': keys.messages(tenant, conversation),
            ...(after === undefined ? {} : { ':after': after }),
          },
        }),
      );
      return readRows(service, Items, (row) => Message.parse(row));
    },

    add(tenant: Tenant, message: Message): Change {
      return addition(service, {
        ...keys.message(tenant, message.conversationId, message.id),
        ...markOf(tenant),
        ...message,
      });
    },
  };
}
