import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import type { Row } from '../../../functions/aws/table.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import {
  buildJobKey,
  type RedeliveryJob,
  type RedeliveryRun,
  redeliveryJobs,
  redeliveryRounds,
  toRedeliveryRun,
} from '../../../functions/redelivery/jobs.ts';
import { keys, listShards, REDELIVERY_RUN_SHARDS } from '../../../functions/tenancy/keys.ts';
import { aRedeliveryJob, aSandboxTenant, later, NOW } from '../../builders.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';
import { readInPagesOf } from './faults.ts';
import { rowsIn } from './rows.ts';

const engine = dynamoDb();
const KINDS: [name: string, make: () => Promise<TestTables>][] = [
  ['tables in memory', async () => memoryTables()],
  ['dynamodb', () => engine.tables()],
];

function runsIn(tables: TestTables) {
  const { service } = tables;
  const commit = committer(service.client);
  const jobs = redeliveryJobs(service);
  const rounds = redeliveryRounds(tables, commit);
  return {
    ...jobs,
    start: (job: RedeliveryJob) => commit(jobs.start(job)),
    stop: (job: RedeliveryJob) => commit(jobs.stop(job, NOW)),
    async finish(job: RedeliveryJob) {
      const leased = await rounds.lease(job, { round: 1, now: NOW, leaseSeconds: 40 });
      if (leased.kind !== 'leased') throw new Error(`the job is ${leased.kind}`);
      return rounds.end(leased.job, { status: 'done', at: NOW });
    },
    /** All runs whose last message is not later, page by page. */
    async since(until: Date): Promise<RedeliveryRun[]> {
      const found: RedeliveryRun[] = [];
      for (const shard of listShards(REDELIVERY_RUN_SHARDS)) {
        let after: Row | undefined;
        do {
          const page = await jobs.findRuns(shard, until, after);
          found.push(...page.entries);
          after = page.next;
        } while (after !== undefined);
      }
      return found.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    },
  };
}
const jobAt = (ms: number, changes: Partial<RedeliveryJob> = {}) =>
  aRedeliveryJob({
    id: newId('rdj', later(NOW, ms)),
    createdAt: later(NOW, ms).toISOString(),
    ...changes,
  });

describe.each(KINDS)('the record of a running redelivery job (%s)', (_, make) => {
  it('exists from its start to its end, for every kind of end', async () => {
    const { start, stop, finish, since } = runsIn(await make());
    const [stopped, done] = [jobAt(0), jobAt(1)];
    await start(stopped);
    await start(done);
    expect(await since(later(NOW, 1))).toEqual([toRedeliveryRun(stopped), toRedeliveryRun(done)]);

    await stop(stopped);
    expect(await since(later(NOW, 1))).toEqual([toRedeliveryRun(done)]);
    expect(await finish(done)).toBe(true);
    expect(await since(later(NOW, 1))).toEqual([]);
  });

  it('is not added for a refused job', async () => {
    const { start, since } = runsIn(await make());
    const first = jobAt(0);
    await start(first);
    expect(await start(jobAt(1, { orgId: first.orgId, webhookId: first.webhookId }))).toMatchObject({
      kind: 'refused',
    });
    expect(await since(later(NOW, 1))).toEqual([toRedeliveryRun(first)]);
  });

  it('remains when its end is refused', async () => {
    const tables = await make();
    const { start, since } = runsIn(tables);
    const job = jobAt(0);
    await start(job);
    const rounds = redeliveryRounds(tables, committer(tables.service.client));
    const leased = await rounds.lease(job, { round: 1, now: NOW, leaseSeconds: 40 });
    if (leased.kind !== 'leased') throw new Error(`the job is ${leased.kind}`);
    const taken = { ...leased.job, lease: { ...leased.job.lease, token: 'another' } };
    expect(await rounds.end(taken, { status: 'done', at: NOW })).toBe(false);
    expect(await since(NOW)).toEqual([toRedeliveryRun(job)]);
  });

  it('is found by the time of its last message', async () => {
    const { start, since, recordMessage } = runsIn(await make());
    const [first, second] = [jobAt(0), jobAt(10)];
    await start(first);
    await start(second);
    expect(await since(later(NOW, -1))).toEqual([]);
    expect(await since(later(NOW, 9))).toEqual([toRedeliveryRun(first)]);
    expect(await since(later(NOW, 10))).toEqual([toRedeliveryRun(first), toRedeliveryRun(second)]);

    await recordMessage(toRedeliveryRun(first), later(NOW, 20));
    expect(await since(later(NOW, 19))).toEqual([toRedeliveryRun(second)]);
    expect(await since(later(NOW, 20))).toEqual([
      { ...toRedeliveryRun(first), remindedAt: later(NOW, 20).toISOString() },
      toRedeliveryRun(second),
    ]);
  });

  it('is updated once by several that have read the same, and is not restored', async () => {
    const { start, stop, since, recordMessage, removeRun } = runsIn(await make());
    const job = jobAt(0);
    await start(job);
    const read = toRedeliveryRun(job);
    await recordMessage(read, later(NOW, 20));
    await recordMessage(read, later(NOW, 40));
    expect(await since(later(NOW, 20))).toHaveLength(1);

    await stop(job);
    await recordMessage({ ...read, remindedAt: later(NOW, 20).toISOString() }, later(NOW, 40));
    await removeRun(read);
    expect(await since(later(NOW, 60))).toEqual([]);
  });

  it('has the mark of its sandbox, like the job', async () => {
    const tables = await make();
    const tenant = aSandboxTenant();
    const job = jobAt(0, tenant);
    await runsIn(tables).start(job);
    await runsIn(tables).start(jobAt(1));
    const marked = (await rowsIn(tables.service)).filter(({ ofSandbox }) => ofSandbox !== undefined);
    expect(new Set(marked.map(({ ofSandbox }) => ofSandbox))).toEqual(
      new Set([`${tenant.orgId}#${tenant.generation}`]),
    );
    const places = marked.map(({ pk, sk }) => ({ pk, sk }));
    expect(places).toHaveLength(2);
    expect(places).toContainEqual(buildJobKey(job));
    expect(places).toContainEqual(keys.redeliveryRun(job));
  });
});

describe('records of running redelivery jobs in the table', () => {
  it('are found in all shards, page by page, without rows in between', async () => {
    const client = engine.client();
    const { start, since } = runsIn(await engine.tables(client));
    const old: RedeliveryJob[] = [];
    const shards = () => new Set(old.map((job) => keys.redeliveryRun(job).pk)).size;
    // Identifiers are random: one in eighty times, the first twenty leave a shard out.
    for (let number = 0; number < 40 || (shards() < REDELIVERY_RUN_SHARDS && number < 400); number += 1) {
      const job = jobAt(number, number % 2 === 0 ? {} : { createdAt: later(NOW, 60_000).toISOString() });
      await start(job);
      if (number % 2 === 0) old.push(job);
    }
    expect(shards()).toBe(REDELIVERY_RUN_SHARDS);
    readInPagesOf(client, 2);
    expect(await since(later(NOW, 1000))).toEqual(old.map(toRedeliveryRun));
  });
});
