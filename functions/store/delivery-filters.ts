import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Delivery, DeliveryStatus } from '../domain/delivery.ts';
import type { ReceiverId } from '../domain/ids.ts';
import type { Tenant } from '../domain/tenant.ts';
import { deliveryOf } from './deliveries.ts';
import { newestMatching, type PartitionScan } from './filtered-pages.ts';
import { DELIVERY_SHARDS, deliveriesBetween, keys, shards } from './keys.ts';
import type { Page, PageRequest } from './pages.ts';
import { readRows } from './readable.ts';
import type { Table } from './table.ts';

/** Which deliveries are asked for; all that it says must be so. */
export interface DeliveryFilter {
  status?: readonly DeliveryStatus[] | undefined;
  eventType?: readonly Delivery['eventType'][] | undefined;
  /** By the time that identifiers carry, `to` excluded. */
  from?: Date | undefined;
  to?: Date | undefined;
}

/** The whole of time, as identifiers can carry it. */
const FIRST = new Date(0);
const LAST = new Date(2 ** 48 - 1);

/**
 * Deliveries to an endpoint of some states and event types and of some time, newest first. The time narrows what is read; the rest is told from the
 * rows, of which a page examines a bounded number.
 * @returns pages as `newestMatching` gives them: short ones may have a next one
 */
export function filteredDeliveries(deliveries: Table) {
  function scanOf(pk: string, { status, eventType, from = FIRST, to = LAST }: DeliveryFilter) {
    const [first, end] = deliveriesBetween(from, to);
    const wanted = [...conditionOf('status', status), ...conditionOf('eventType', eventType)];
    const scan: PartitionScan<Delivery> = async (before, rows) => {
      const last = justBelow(before === undefined || end < before ? end : before);
      if (last < first) return { items: [], examined: 0, units: 0 };
      const {
        Items = [],
        ScannedCount = 0,
        LastEvaluatedKey,
        ConsumedCapacity,
      } = await deliveries.client.send(
        new QueryCommand({
          TableName: deliveries.name,
          ConsistentRead: true,
          ReturnConsumedCapacity: 'TOTAL',
          ScanIndexForward: false,
          Limit: rows,
          KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
          ...(wanted.length > 0 && {
            FilterExpression: wanted.map(({ expression }) => expression).join(' AND '),
            ExpressionAttributeNames: Object.assign({}, ...wanted.map(({ names }) => names)),
          }),
          ExpressionAttributeValues: Object.assign(
            { ':pk': pk, ':first': first, ':last': last },
            ...wanted.map(({ values }) => values),
          ),
        }),
      );
      return {
        items: readRows(deliveries, Items, deliveryOf),
        examined: ScannedCount,
        // Where it is not reported, each row counts as a large one.
        units: ConsumedCapacity?.CapacityUnits ?? ScannedCount,
        boundary: LastEvaluatedKey?.sk,
      };
    };
    return scan;
  }

  return (
    tenant: Tenant,
    endpoint: ReceiverId,
    page: PageRequest,
    filter: DeliveryFilter,
  ): Promise<Page<Delivery>> =>
    newestMatching(
      shards(DELIVERY_SHARDS).map((shard) =>
        scanOf(keys.deliveries(endpoint, tenant.generation, shard), filter),
      ),
      page,
    );
}

/** That an attribute is one of some values. */
function conditionOf(name: string, values: readonly string[] | undefined) {
  if (values === undefined) return [];
  const named = values.map((value, index) => [`:${name}${index}`, value] as const);
  return [
    {
      expression: `#${name} IN (${named.map(([key]) => key).join(', ')})`,
      names: { [`#${name}`]: name },
      values: Object.fromEntries(named),
    },
  ];
}

/** What every identifier below `bound` is at most: DynamoDB knows no range whose end is excluded. Identifiers are of ASCII and of one length. */
const justBelow = (bound: string): string =>
  `${bound.slice(0, -1)}${String.fromCharCode(bound.charCodeAt(bound.length - 1) - 1)}~`;
