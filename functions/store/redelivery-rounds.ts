import { randomUUID } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { LeasedJob, RedeliveryJob, RedeliveryJobRef } from '../domain/redelivery-job.ts';
import { endOf, type JobEnd, jobKey, jobOf } from './redelivery-jobs.ts';
import { type Table, updated } from './table.ts';
import type { Commit } from './transaction.ts';

export type JobLeaseResult =
  | { kind: 'leased'; job: LeasedJob }
  /** Another worker has it. */
  | { kind: 'busy' }
  /** It has ended, is gone, or a later message goes on with it. */
  | { kind: 'over' };

/** What a page adds to a job. */
export interface Examination {
  /** Up to where all was examined. */
  place: string;
  examined: number;
  redelivered: number;
  /** When the next page is begun. */
  at: Date;
}

/** What workers write of redelivery jobs. Each holds its job by a lease, and what it writes is refused once another one has it. */
export function redeliveryRounds(service: Table, commit: Commit) {
  const table = { TableName: service.name };
  const held = { '#token': 'token' };

  return {
    /** Takes a running job, for a message that is not older than the last one that was begun with. A page that was under way keeps its time. */
    async lease(
      ref: RedeliveryJobRef,
      { round, now, leaseSeconds }: { round: number; now: Date; leaseSeconds: number },
    ): Promise<JobLeaseResult> {
      const lease = { token: randomUUID(), until: now.getTime() + leaseSeconds * 1000 };
      try {
        const { Attributes } = await service.client.send(
          new UpdateCommand({
            ...table,
            Key: jobKey(ref),
            UpdateExpression: 'SET lease = :lease, #round = :round, pageAt = if_not_exists(pageAt, :now)',
            ConditionExpression:
              '#status = :running AND #round <= :round AND (attribute_not_exists(lease) OR lease.#until <= :nowMs)',
            ExpressionAttributeNames: { '#status': 'status', '#round': 'round', '#until': 'until' },
            ExpressionAttributeValues: {
              ':lease': lease,
              ':round': round,
              ':running': 'running',
              ':nowMs': now.getTime(),
              ':now': now.toISOString(),
            },
            ReturnValues: 'ALL_NEW',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        );
        return { kind: 'leased', job: { ...jobOf(Attributes), lease } };
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        const found = error.Item && jobOf(unmarshall(error.Item));
        // The SDK repeats a request whose answer it lost, so the condition may have met this very lease.
        if (found?.lease?.token === lease.token) return { kind: 'leased', job: { ...found, lease } };
        if (found === undefined || found.status !== 'running' || found.round > round) return { kind: 'over' };
        return { kind: 'busy' };
      }
    },

    /**
     * Notes how far a job has come.
     * @returns the job as it is then, which may have been stopped meanwhile; undefined when another worker has it, or it is gone
     */
    async save(
      job: LeasedJob,
      { place, examined, redelivered, at }: Examination,
    ): Promise<RedeliveryJob | undefined> {
      const before = job.place === undefined ? 'attribute_not_exists(place)' : 'place = :before';
      try {
        const { Attributes } = await service.client.send(
          new UpdateCommand({
            ...table,
            Key: jobKey(job),
            UpdateExpression:
              'SET place = :place, pageAt = :at ADD examined :examined, redelivered :redelivered',
            // The place keeps a request that the SDK repeats from being counted twice.
            ConditionExpression: `lease.#token = :token AND ${before}`,
            ExpressionAttributeNames: held,
            ExpressionAttributeValues: {
              ':place': place,
              ':at': at.toISOString(),
              ':examined': examined,
              ':redelivered': redelivered,
              ':token': job.lease.token,
              ...(job.place !== undefined && { ':before': job.place }),
            },
            ReturnValues: 'ALL_NEW',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        );
        return jobOf(Attributes);
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        const found = error.Item && jobOf(unmarshall(error.Item));
        return found?.lease?.token === job.lease.token && found.place === place ? found : undefined;
      }
    },

    /** Gives a job back between two pages, for its next message. */
    async release(job: LeasedJob): Promise<void> {
      await updated(service, {
        Key: jobKey(job),
        UpdateExpression: 'REMOVE lease, pageAt',
        ConditionExpression: 'lease.#token = :token',
        ExpressionAttributeNames: held,
        ExpressionAttributeValues: { ':token': job.lease.token },
      });
    },

    /** Ends a job. Refused when it was stopped meanwhile, or another worker has it. @throws Contended, and whatever the table throws */
    async end(job: LeasedJob, end: JobEnd): Promise<'done' | 'refused'> {
      const { kind } = await commit(endOf(service, job, end, job.lease.token));
      return kind === 'committed' ? 'done' : 'refused';
    },
  };
}
