import { randomUUID } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { UnreadableRow } from '../domain/due.ts';
import type { EndpointId } from '../domain/ids.ts';
import {
  JOB_DAYS,
  type LeasedJob,
  RedeliveryJob,
  type RedeliveryJobRef,
  type RedeliveryJobStatus,
  RedeliveryRun,
  type StopReason,
  toRedeliveryRun,
} from '../domain/redelivery-job.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { Position } from './due-index.ts';
import { buildSandboxMark, keys } from './keys.ts';
import { type Page, type PageRequest, partitionReader, readNewestFirst } from './pages.ts';
import { parseReadable, readItem, type Table, toExpiry, update } from './table.ts';
import { buildAddition, type Change, type Commit } from './transaction.ts';

/** @throws a zod error when the row holds no job */
export const parseJob = (row: unknown): RedeliveryJob => RedeliveryJob.parse(row);
export const buildJobKey = (job: RedeliveryJobRef) => keys.redeliveryJob(job, job.webhookId, job.id);

export interface JobEnd {
  status: Exclude<RedeliveryJobStatus, 'running'>;
  reason?: StopReason;
  at: Date;
}

/** Creates, reads and stops redelivery jobs. */
export function redeliveryJobs(service: Table) {
  return {
    async find(tenant: Tenant, endpoint: EndpointId, id: RedeliveryJob['id']) {
      const { Item } = await service.client.send(
        new GetCommand({
          TableName: service.name,
          Key: keys.redeliveryJob(tenant, endpoint, id),
          ConsistentRead: true,
        }),
      );
      return Item && parseJob(Item);
    },

    list(tenant: Tenant, endpoint: EndpointId, page: PageRequest): Promise<Page<RedeliveryJob>> {
      return readNewestFirst(
        [partitionReader(service, keys.redeliveryJobs(tenant, endpoint), parseJob)],
        page,
      );
    },

    /** Adds a job; refused as `redelivery-running` while another one of the endpoint runs. */
    start(job: RedeliveryJob): Change[] {
      const expiresAt = toExpiry(new Date(job.createdAt), JOB_DAYS);
      const Item = {
        ...keys.latestRedelivery(job, job.webhookId),
        ...buildSandboxMark(job),
        redeliveryId: job.id,
        running: true,
        expiresAt,
      };
      return [
        {
          refusal: 'redelivery-running',
          write: {
            Put: {
              TableName: service.name,
              Item,
              ConditionExpression: 'attribute_not_exists(running)',
            },
          },
        },
        buildAddition(service, { ...buildJobKey(job), ...buildSandboxMark(job), ...job, expiresAt }),
        buildRunAddition(service, job),
      ];
    },

    /** Stops a job. Its worker notices when it next saves progress; the current page still counts. */
    stop(job: RedeliveryJobRef, at: Date): Change[] {
      return buildJobEnd(service, job, { status: 'stopped', reason: 'cancelled', at });
    },
  };
}

/**
 * Ends a job, which allows the endpoint's next one; refused as `redelivery-over` when it has ended.
 * @param token of the worker's lease, which must be current and ends with the job
 */
function buildJobEnd(
  service: Pick<Table, 'name'>,
  job: RedeliveryJobRef,
  { status, reason, at }: JobEnd,
  token?: string,
): Change[] {
  const TableName = service.name;
  const sets = {
    status,
    finishedAt: at.toISOString(),
    expiresAt: toExpiry(at, JOB_DAYS),
    ...(reason && { reason }),
  };
  const entries = Object.entries(sets);
  const isHeld = token !== undefined;
  return [
    {
      refusal: 'redelivery-over',
      write: {
        Update: {
          TableName,
          Key: buildJobKey(job),
          UpdateExpression: `SET ${entries.map(([name]) => `#${name} = :${name}`).join(', ')}${isHeld ? ' REMOVE lease' : ''}`,
          ConditionExpression: `#status = :running${isHeld ? ' AND lease.#token = :token' : ''}`,
          ExpressionAttributeNames: {
            ...Object.fromEntries(entries.map(([name]) => [`#${name}`, name])),
            ...(isHeld && { '#token': 'token' }),
          },
          ExpressionAttributeValues: {
            ...Object.fromEntries(entries.map(([name, value]) => [`:${name}`, value])),
            ':running': 'running',
            ...(isHeld && { ':token': token }),
          },
        },
      },
    },
    {
      refusal: 'redelivery-over',
      write: {
        Update: {
          TableName,
          Key: keys.latestRedelivery(job, job.webhookId),
          UpdateExpression: 'REMOVE running',
          ConditionExpression: 'redeliveryId = :job',
          ExpressionAttributeValues: { ':job': job.id },
        },
      },
    },
    buildRunRemoval(service, job),
  ];
}

/** Rows per page; small enough that a run can end between two pages. */
const PAGE = 100;

/** Records that a job is running, in the transaction that starts it. */
function buildRunAddition(service: Pick<Table, 'name'>, job: RedeliveryJob): Change {
  const run = toRedeliveryRun(job);
  return buildAddition(service, { ...keys.redeliveryRun(run.id), ...buildSandboxMark(run), ...run });
}

/** Removes the run, in the transaction that ends the job. No condition: older jobs have no run. */
const buildRunRemoval = (service: Pick<Table, 'name'>, { id }: Pick<RedeliveryJob, 'id'>): Change => ({
  refusal: 'redelivery-over',
  write: { Delete: { TableName: service.name, Key: keys.redeliveryRun(id) } },
});

/** Running redelivery jobs, for the worker that resends lost job messages. */
export function redeliveryRuns(service: Table) {
  return {
    /**
     * Returns a shard's runs without a message since `until`. Reads all runs: at most one per endpoint.
     * @param after end of the previous page
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
      const found = parseReadable(Items, (row) => RedeliveryRun.parse(row));
      return { ...found, ...(LastEvaluatedKey === undefined ? {} : { next: LastEvaluatedKey }) };
    },

    /** Records that a message was sent. Does nothing when another worker recorded one, or the run ended. */
    async reminded(run: RedeliveryRun, at: Date): Promise<void> {
      await update(service, {
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

export type JobLeaseResult =
  /** `isRepeated` when a worker had processed the same message before, and may have been lost. */
  | { kind: 'leased'; job: LeasedJob; isRepeated: boolean }
  /** Another worker has the lease. */
  | { kind: 'busy' }
  /** The job ended or does not exist, or a later message continues it. */
  | { kind: 'over' };

/** Progress of a page. */
export interface JobPage {
  /** Id up to which all deliveries were examined. */
  place: string;
  examined: number;
  redelivered: number;
  /** Totals of the job with this page. */
  counts: Pick<RedeliveryJob, 'eventTypes' | 'firstEventAt'>;
}

/** Workers' writes to redelivery jobs, refused unless the worker holds the job's lease. */
export function redeliveryRounds(service: Table, commit: Commit) {
  const table = { TableName: service.name };
  const held = { '#token': 'token' };

  return {
    /** Leases a running job unless a later message was processed. */
    async lease(
      ref: RedeliveryJobRef,
      { round, now, leaseSeconds }: { round: number; now: Date; leaseSeconds: number },
    ): Promise<JobLeaseResult> {
      const lease = { token: randomUUID(), until: now.getTime() + leaseSeconds * 1000 };
      try {
        const { Attributes } = await service.client.send(
          new UpdateCommand({
            ...table,
            Key: buildJobKey(ref),
            UpdateExpression: 'SET lease = :lease, #round = :round',
            ConditionExpression:
              '#status = :running AND #round <= :round AND (attribute_not_exists(lease) OR lease.#until <= :nowMs)',
            ExpressionAttributeNames: { '#status': 'status', '#round': 'round', '#until': 'until' },
            ExpressionAttributeValues: {
              ':lease': lease,
              ':round': round,
              ':running': 'running',
              ':nowMs': now.getTime(),
            },
            ReturnValues: 'ALL_OLD',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        );
        const job = parseJob(Attributes);
        return { kind: 'leased', job: { ...job, round, lease }, isRepeated: job.round === round };
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        const found = error.Item && parseJob(unmarshall(error.Item));
        // The SDK repeats a request whose response was lost, so this lease may already be on the row.
        if (found?.lease?.token === lease.token)
          return { kind: 'leased', job: { ...found, lease }, isRepeated: true };
        if (found === undefined || found.status !== 'running' || found.round > round) return { kind: 'over' };
        return { kind: 'busy' };
      }
    },

    /**
     * Saves a job's progress.
     * @returns the stored job, possibly stopped meanwhile; undefined when the lease is lost or the job is
     * gone
     */
    async save(
      job: LeasedJob,
      { place, examined, redelivered, counts: { eventTypes, firstEventAt } }: JobPage,
    ): Promise<RedeliveryJob | undefined> {
      const before = job.place === undefined ? 'attribute_not_exists(place)' : 'place = :before';
      try {
        const { Attributes } = await service.client.send(
          new UpdateCommand({
            ...table,
            Key: buildJobKey(job),
            UpdateExpression: `SET place = :place, eventTypes = :types${firstEventAt === undefined ? '' : ', firstEventAt = :first'} ADD examined :examined, redelivered :redelivered`,
            // The position makes a retried request count once.
            ConditionExpression: `lease.#token = :token AND ${before}`,
            ExpressionAttributeNames: held,
            ExpressionAttributeValues: {
              ':place': place,
              ':examined': examined,
              ':redelivered': redelivered,
              ':types': eventTypes,
              ...(firstEventAt !== undefined && { ':first': firstEventAt }),
              ':token': job.lease.token,
              ...(job.place !== undefined && { ':before': job.place }),
            },
            ReturnValues: 'ALL_NEW',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        );
        return parseJob(Attributes);
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        const found = error.Item && parseJob(unmarshall(error.Item));
        return found?.lease?.token === job.lease.token && found.place === place ? found : undefined;
      }
    },

    /** Whether a job has not been stopped. */
    async isRunning(job: RedeliveryJobRef): Promise<boolean> {
      return (await readItem(service, { ...buildJobKey(job) }))?.status === 'running';
    },

    /** Releases a job after a round; its next message continues it. */
    async release(job: LeasedJob): Promise<void> {
      await update(service, {
        Key: buildJobKey(job),
        UpdateExpression: 'REMOVE lease',
        ConditionExpression: 'lease.#token = :token',
        ExpressionAttributeNames: held,
        ExpressionAttributeValues: { ':token': job.lease.token },
      });
    },

    /**
     * Ends a job. Refused when it was stopped meanwhile, or the lease is lost.
     * @throws Contended
     */
    async end(job: LeasedJob, end: JobEnd): Promise<'done' | 'refused'> {
      const { kind } = await commit(buildJobEnd(service, job, end, job.lease.token));
      return kind === 'committed' ? 'done' : 'refused';
    },
  };
}
