import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { Escalation } from '../domain/conversation.ts';
import type { ConversationId, EscalationId } from '../domain/ids.ts';
import type { Tenant } from '../domain/tenant.ts';
import { keys, markOf } from './keys.ts';
import { newestFirst, type Page, type PageRequest, partition } from './pages.ts';
import type { Table } from './table.ts';
import { addition, type Change } from './transaction.ts';

/** The escalation logs of conversations. Whether the conversation is the tenant's is for the caller to have checked. */
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
      return newestFirst([partition(service, pk, (row) => Escalation.parse(row))], page);
    },

    add(tenant: Tenant, escalation: Escalation): Change {
      return addition(service, {
        ...keys.escalation(tenant, escalation.conversationId, escalation.id),
        ...markOf(tenant),
        ...escalation,
      });
    },
  };
}
