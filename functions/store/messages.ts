import { Message } from '../domain/conversation.ts';
import type { ConversationId } from '../domain/ids.ts';
import type { Tenant } from '../domain/tenant.ts';
import { partition } from './collection.ts';
import { keys } from './keys.ts';
import { newestFirst, type Page, type PageRequest } from './pages.ts';
import type { Table } from './table.ts';
import { addition, type Change } from './transaction.ts';

/** Messages of a conversation. Whether the conversation is the tenant's is for the caller to have checked. */
export function messageStore(service: Table) {
  return {
    list(tenant: Tenant, conversation: ConversationId, page: PageRequest): Promise<Page<Message>> {
      const pk = keys.messages(tenant, conversation);
      return newestFirst([partition(service, pk, (row) => Message.parse(row))], page);
    },

    add(tenant: Tenant, message: Message): Change {
      return addition(service, {
        pk: keys.messages(tenant, message.conversationId),
        sk: message.id,
        ...message,
      });
    },
  };
}
