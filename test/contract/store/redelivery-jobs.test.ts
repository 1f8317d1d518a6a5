import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import type { Row } from '../../../functions/aws/table.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import {
  type LeasedJob,
  type RedeliveryJob,
  type RedeliveryRun,
  redeliveryJobs,
  redeliveryRounds,
  toRedeliveryRun,
} from '../../../functions/redelivery/jobs.ts';
import { keys, listShards, REDELIVERY_RUN_SHARDS } from '../../../functions/tenancy/keys.ts';
import { aDelivery, aRedeliveryJob, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';
import { loseNextAnswer, readInPagesOf } from './faults.ts';

const engine = dynamoDb();
const LEASE_SECONDS = 40;
const terms = (round = 1, now = NOW) => ({ round, now, leaseSeconds: LEASE_SECONDS });
const AFTER_LEASE = later(NOW, seconds(LEASE_SECONDS));

function jobsIn(tables: TestTables) {
  const { service } = tables;
  const commit = committer(service.client);
  const jobs = redeliveryJobs(service);
  const rounds = redeliveryRounds(tables, commit);
  const find = (job: RedeliveryJob) => jobs.find(job, job.webhookId, job.id);
  return {
    ...jobs,
    ...rounds,
    find,
    start: (job: RedeliveryJob) => commit(jobs.start(job)),
    stop: (job: RedeliveryJob) => commit(jobs.stop(job, AFTER_LEASE)),
    async held(job: RedeliveryJob, round = 1): Promise<LeasedJob> {
      const leased = await rounds.lease(job, terms(round));
      if (leased.kind !== 'leased') throw new Error(`the job is ${leased.kind}`);
      return leased.job;
    },
    /** All runs whose last message is not later, page by page. */
    async since(until: Date): Promise<RedeliveryRun[]> {
      const stored: RedeliveryRun[] = [];
      for (const shard of listShards(REDELIVERY_RUN_SHARDS)) {
        let after: Row | undefined;
        do {
          const page = await jobs.findRuns(shard, until, after);
          stored.push(...page.entries);
          after = page.next;
        } while (after !== undefined);
      }
      return stored.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    },
  };
}
const COUNTS = { eventTypes: { 'ticket.created': 3 }, firstEventAt: NOW.toISOString() };
const resent = [1, 2, 3].map(() => aDelivery({ eventType: 'ticket.created', eventId: newId('evt', NOW) }));
const page = (place: string) => ({ place, examined: 10, resent });

describe('redelivery jobs', () => {
  it('make room for another one of their endpoint when they end, once', async () => {
    const { start, stop, held, end } = jobsIn(await engine.tables());
    const first = aRedeliveryJob();
    const { orgId, webhookId } = first;
    await start(first);
    const leased = await held(first);
    await stop(first);
    expect(await start(aRedeliveryJob({ orgId, webhookId }))).toEqual({ kind: 'committed' });
    expect(await stop(first)).toEqual({ kind: 'refused', refusal: 'redelivery-over' });
    expect(await end(leased, { status: 'done', at: AFTER_LEASE })).toBe(false);
    expect(await start(aRedeliveryJob({ orgId, webhookId }))).toMatchObject({ kind: 'refused' });
  });

  it('are listed newest first, for their endpoint and tenant only', async () => {
    const { start, stop, list } = jobsIn(await engine.tables());
    const first = aRedeliveryJob();
    const { orgId, webhookId } = first;
    const second = aRedeliveryJob({ orgId, webhookId, id: newId('rdj', later(NOW, 1)) });
    await start(first);
    await stop(first);
    await start(second);
    await start(aRedeliveryJob({ orgId }));
    await start(aRedeliveryJob({ orgId, webhookId, generation: 1 }));

    const tenant = { orgId, generation: 0 };
    const [newest] = (await list(tenant, webhookId, { limit: 1 })).items;
    expect(newest).toEqual(second);
    const { items } = await list(tenant, webhookId, { limit: 20, after: second.id });
    expect(items.map(({ id }) => id)).toEqual([first.id]);
  });

  it('are leased to one worker until its lease expires', async () => {
    const { start, lease, held } = jobsIn(await engine.tables());
    const job = aRedeliveryJob();
    await start(job);
    expect(await held(job)).toMatchObject({ ...job, round: 1 });
    expect(await lease(job, terms())).toEqual({ kind: 'busy' });
    expect(await lease(job, terms(2))).toEqual({ kind: 'busy' });
    expect(await lease(job, terms(1, AFTER_LEASE))).toMatchObject({ kind: 'leased' });
  });

  it('are not continued by an outdated message', async () => {
    const { start, lease, held, release } = jobsIn(await engine.tables());
    const job = aRedeliveryJob();
    await start(job);
    await release(await held(job, 2));
    expect(await lease(job, terms(1))).toEqual({ kind: 'over' });
    expect(await lease(job, terms(2))).toMatchObject({ kind: 'leased' });
  });

  it('store their position and counts once for each page', async () => {
    const { start, held, save, find } = jobsIn(await engine.tables());
    const job = aRedeliveryJob();
    await start(job);
    const leased = await held(job);
    const saved = await save(leased, page('dlv_a'));
    expect(saved).toMatchObject({
      place: 'dlv_a',
      examined: 10,
      redelivered: 3,
      ...COUNTS,
      status: 'running',
    });
    const next = { ...leased, ...saved, lease: leased.lease };
    await save(next, page('dlv_b'));
    expect(await save(leased, page('dlv_c'))).toBeUndefined();
    expect(await find(job)).toMatchObject({ place: 'dlv_b', examined: 20, redelivered: 6 });
  });

  it('say whether the worker before, of the same message or an earlier one, may have been lost', async () => {
    const { start, lease, release } = jobsIn(await engine.tables());
    const job = aRedeliveryJob();
    await start(job);
    expect(await lease(job, terms())).toMatchObject({ kind: 'leased', isAfterLoss: false });
    // Its worker is lost.
    const again = await lease(job, terms(1, AFTER_LEASE));
    expect(again).toMatchObject({ kind: 'leased', isAfterLoss: true });
    if (again.kind !== 'leased') throw new Error(`the job is ${again.kind}`);
    await release(again.job);
    expect(await lease(job, terms(2, AFTER_LEASE))).toMatchObject({ kind: 'leased', isAfterLoss: false });
    const later = new Date(2 * AFTER_LEASE.getTime() - NOW.getTime());
    expect(await lease(job, terms(3, later))).toMatchObject({ kind: 'leased', isAfterLoss: true });
  });

  it('refuse writes of a worker that has lost its lease', async () => {
    const { start, held, lease, save, end, find } = jobsIn(await engine.tables());
    const job = aRedeliveryJob();
    await start(job);
    const late = await held(job);
    await lease(job, terms(1, AFTER_LEASE));
    expect(await save(late, page('dlv_a'))).toBeUndefined();
    expect(await end(late, { status: 'done', at: AFTER_LEASE })).toBe(false);
    expect(await find(job)).toMatchObject({ status: 'running', examined: 0 });
  });
});

describe('a write of a redelivery job whose answer was lost', () => {
  it('counts a page once', async () => {
    const client = engine.client();
    const { start, held, save, find } = jobsIn(await engine.tables(client));
    const job = aRedeliveryJob();
    await start(job);
    const leased = await held(job);
    const fault = loseNextAnswer(client, 'UpdateItemCommand');
    expect(await save(leased, page('dlv_a'))).toMatchObject({ examined: 10 });
    expect(fault.lost()).toBe(true);
    expect(await find(job)).toMatchObject({ examined: 10, redelivered: 3 });
  });
});

const jobAt = (ms: number, changes: Partial<RedeliveryJob> = {}) =>
  aRedeliveryJob({
    id: newId('rdj', later(NOW, ms)),
    createdAt: later(NOW, ms).toISOString(),
    ...changes,
  });

describe('the record of a running redelivery job', () => {
  it('exists from its start to its end, for every kind of end', async () => {
    const { start, stop, held, end, since } = jobsIn(await engine.tables());
    const [stopped, done] = [jobAt(0), jobAt(1)];
    await start(stopped);
    await start(done);
    expect(await since(later(NOW, 1))).toEqual([toRedeliveryRun(stopped), toRedeliveryRun(done)]);

    await stop(stopped);
    expect(await since(later(NOW, 1))).toEqual([toRedeliveryRun(done)]);
    expect(await end(await held(done), { status: 'done', at: NOW })).toBe(true);
    expect(await since(later(NOW, 1))).toEqual([]);
  });

  it('is found by the time of its last message', async () => {
    const { start, since, recordMessage } = jobsIn(await engine.tables());
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
    const { start, stop, since, recordMessage, removeRun } = jobsIn(await engine.tables());
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
});

describe('records of running redelivery jobs in the table', () => {
  it('are found in all shards, page by page, without rows in between', async () => {
    const client = engine.client();
    const { start, since } = jobsIn(await engine.tables(client));
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
