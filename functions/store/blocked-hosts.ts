import { DeleteCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { BlockedHost } from '../domain/blocked-hosts.ts';
import { keys } from './keys.ts';
import { readRows, type Table } from './table.ts';

/** Hosts that the operator blocked, in one partition. */
export function blockedHostStore(service: Table) {
  return {
    async all(): Promise<BlockedHost[]> {
      const hosts: BlockedHost[] = [];
      let start: Record<string, unknown> | undefined;
      do {
        const { Items = [], LastEvaluatedKey } = await service.client.send(
          new QueryCommand({
            TableName: service.name,
            ConsistentRead: true,
            KeyConditionExpression: 'pk = :pk',
            ExpressionAttributeValues: { ':pk': keys.blockedHosts() },
            ExclusiveStartKey: start,
          }),
        );
        hosts.push(...readRows(service, Items, (row) => BlockedHost.parse(row)));
        start = LastEvaluatedKey;
      } while (start !== undefined);
      return hosts;
    },

    /** Blocks a host, or replaces its reason. */
    async block(host: BlockedHost): Promise<void> {
      await service.client.send(
        new PutCommand({ TableName: service.name, Item: { ...keys.blockedHost(host.host), ...host } }),
      );
    },

    async unblock(host: string): Promise<void> {
      await service.client.send(new DeleteCommand({ TableName: service.name, Key: keys.blockedHost(host) }));
    },
  };
}
