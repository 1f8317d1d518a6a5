import { DeleteCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { UnreadableRow } from '../domain/due.ts';
import { type RedeliveryJob, RedeliveryRun, runOf } from '../domain/redelivery-job.ts';
import type { Position } from './due-index.ts';
import { keys, markOf } from './keys.ts';
import { readable, type Table, updated } from './table.ts';
import { addition, type Change } from './transaction.ts';

/** Few enough that a run can end between two pages. */
const PAGE = 100;

/** Keeps that a job runs, in the transaction that begins it. */
export function runBegins(service: Pick<Table, 'name'>, job: RedeliveryJob): Change {
  const run = runOf(job);
  return addition(service, { ...keys.redeliveryRun(run.id), ...markOf(run), ...run });
}

/** In the transaction that ends the job. Jobs that began before runs were kept have none: it is never refused. */
export const runEnds = (service: Pick<Table, 'name'>, { id }: Pick<RedeliveryJob, 'id'>): Change => ({
  refusal: 'redelivery-over',
  write: { Delete: { TableName: service.name, Key: keys.redeliveryRun(id) } },
});

/** Which redelivery jobs run, for whoever looks after their messages. */
export function redeliveryRuns(service: Table) {
  return {
    /**
     * The runs of a shard that nobody was reminded of since `until`. It reads all that run, which are one for an endpoint at most.
     * @param after where the page before ended
     */
    async find(
      shard: number,
      until: Date,
      after?: Position,
    ): Promise<{ entries: RedeliveryRun[]; unreadable: UnreadableRow[]; next?: Position }> {
      const { Items = [], LastEvaluatedKey } = await service.client.send(
        new QueryCommand({
          TableName: service.name,
          ConsistentRead: true,
          KeyConditionExpression: 'pk = :pk',
          FilterExpression: 'remindedAt <= :until',
          ExpressionAttributeValues: { ':pk': keys.redeliveryRuns(shard), ':until': until.toISOString() },
          Limit: PAGE,
          ...(after === undefined ? {} : { ExclusiveStartKey: after }),
        }),
      );
      const found = readable(Items, (row) => RedeliveryRun.parse(row));
      return { ...found, ...(LastEvaluatedKey === undefined ? {} : { next: LastEvaluatedKey }) };
    },

    /** Notes that a message was sent. Does nothing when another one has noted so meanwhile, or the run is over. */
    async reminded(run: RedeliveryRun, at: Date): Promise<void> {
      await updated(service, {
        Key: keys.redeliveryRun(run.id),
        UpdateExpression: 'SET remindedAt = :at',
        ConditionExpression: 'remindedAt = :before',
        ExpressionAttributeValues: { ':at': at.toISOString(), ':before': run.remindedAt },
      });
    },

    async remove({ id }: RedeliveryRun): Promise<void> {
      await service.client.send(new DeleteCommand({ TableName: service.name, Key: keys.redeliveryRun(id) }));
    },
  };
}
