import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { Ticket } from '../domain/conversation.ts';
import type { TicketId } from '../domain/ids.ts';
import type { Tenant } from '../domain/tenant.ts';
import { keys, markOf, shards, TICKET_SHARDS } from './keys.ts';
import { newestFirst, type Page, type PageRequest, partition } from './pages.ts';
import type { Table } from './table.ts';
import { addition, type Change } from './transaction.ts';

export function ticketStore(service: Table) {
  return {
    async find(tenant: Tenant, id: TicketId): Promise<Ticket | undefined> {
      const { Item } = await service.client.send(
        new GetCommand({ TableName: service.name, Key: keys.ticket(tenant, id), ConsistentRead: true }),
      );
      return Item && Ticket.parse(Item);
    },

    list(tenant: Tenant, page: PageRequest): Promise<Page<Ticket>> {
      const partitions = shards(TICKET_SHARDS).map((shard) =>
        partition(service, keys.tickets(tenant, shard), (row) => Ticket.parse(row)),
      );
      return newestFirst(partitions, page);
    },

    add(tenant: Tenant, ticket: Ticket): Change {
      return addition(service, { ...keys.ticket(tenant, ticket.id), ...markOf(tenant), ...ticket });
    },
  };
}
