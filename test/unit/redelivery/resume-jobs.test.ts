import { describe, expect, it } from 'vitest';
import { BusEvent } from '../../../functions/events/bus.ts';
import type { RedeliveryJob } from '../../../functions/redelivery/jobs.ts';
import { anEndpoint, aSandboxTenant, later, NOW, seconds } from '../../builders.ts';
import {
  aRedelivery,
  GRACE_SECONDS,
  LEASE_SECONDS,
  SHORTEST_ROUND,
  type TestRedelivery,
} from './redelivery-fixture.ts';

/** A job whose message is lost before a worker has received it. */
async function aLostJob(test: TestRedelivery): Promise<RedeliveryJob> {
  await test.had('exhausted', 60);
  const job = await test.started();
  test.messages.length = 0;
  return job;
}
/** Lets the worker begin, and lose its process after it has stored its first page. */
async function begunAndLost(test: TestRedelivery): Promise<void> {
  const [message] = test.messages.splice(0);
  if (message === undefined) throw new Error('there was to be a message');
  const dying = test.worker(async (call, stage) => {
    if (call === 'jobs.save' && stage === 'answering') throw new Error('the worker is lost');
  });
  await dying(message).catch(() => undefined);
}
const codes = ({ log }: TestRedelivery) => log.entries.map(({ code }) => code);
const NOTHING = { sent: 0, removed: 0, held: 0, left: 0, complete: true };

describe('redelivery job whose message is lost', () => {
  it('gets another one after the grace period, and completes', async () => {
    const test = aRedelivery();
    const job = await aLostJob(test);
    test.clock.elapse(GRACE_SECONDS - 1);
    expect(await test.resumer()(() => true)).toEqual(NOTHING);
    test.clock.elapse(1);

    expect(await test.resumer()(() => true)).toEqual({ ...NOTHING, sent: 1 });

    expect(test.messages).toEqual([
      BusEvent.parse({
        id: `${job.id}#round#1`,
        type: 'webhook.redelivery',
        ...test.tenant,
        createdAt: later(NOW, seconds(GRACE_SECONDS)).toISOString(),
        data: { webhookId: job.webhookId, redeliveryId: job.id, round: 1 },
        traceId: 'a-trace',
      }),
    ]);
    await test.run();
    expect(await test.job(job)).toMatchObject({ status: 'done', redelivered: 1 });
    expect(await test.made(job)).toHaveLength(1);
    expect(await test.runs()).toEqual([]);
  });

  it('gets a message of its present round', async () => {
    const test = aRedelivery();
    for (let age = 100; age < 160; age += 1) await test.had('exhausted', age);
    const job = await test.started();
    for (let round = 1; round <= 2; round += 1)
      for (const message of test.messages.splice(0)) await test.worker(undefined, SHORTEST_ROUND)(message);
    test.messages.length = 0;
    expect(await test.job(job)).toMatchObject({ status: 'running', round: 2 });
    test.clock.elapse(GRACE_SECONDS);

    await test.resumer()(() => true);

    expect(test.messages).toMatchObject([{ id: `${job.id}#round#2`, data: { round: 2 } }]);
    await test.run();
    expect(await test.job(job)).toMatchObject({ status: 'done', redelivered: 60 });
  });

  it('gets none while a worker has its lease, and gets one once that has ended', async () => {
    const test = aRedelivery();
    const job = await test.started();
    test.clock.elapse(GRACE_SECONDS);
    await begunAndLost(test);

    expect(await test.resumer()(() => true)).toEqual({ ...NOTHING, held: 1 });
    test.clock.elapse(LEASE_SECONDS);
    expect(await test.resumer()(() => true)).toEqual({ ...NOTHING, sent: 1 });

    await test.run();
    expect(await test.job(job)).toMatchObject({ status: 'done' });
  });
});

describe('row of a running job', () => {
  it('is deleted without a message when the job is gone', async () => {
    const test = aRedelivery();
    const job = await aLostJob(test);
    test.clock.elapse(GRACE_SECONDS);
    const blind = test.resumer();
    await test.forget(job);
    expect(await blind(() => true)).toEqual({ ...NOTHING, removed: 1 });
    expect(await test.runs()).toEqual([]);
    expect(test.messages).toEqual([]);
  });

  it('is deleted without a message when a reset has deleted the generation', async () => {
    const tenant = aSandboxTenant();
    const test = aRedelivery({
      endpoint: anEndpoint({ orgId: tenant.orgId }),
      generation: tenant.generation,
    });
    test.organizationStates.makeSandbox(tenant.orgId);
    await aLostJob(test);
    test.organizationStates.reset(tenant.orgId);
    test.clock.elapse(GRACE_SECONDS);
    expect(await test.resumer()(() => true)).toEqual({ ...NOTHING, removed: 1 });
    expect(await test.runs()).toEqual([]);
    expect(test.messages).toEqual([]);
  });
});

describe('resumption of a lost job', () => {
  it('is left to the next run when the queue does not take the message', async () => {
    const test = aRedelivery();
    await aLostJob(test);
    test.clock.elapse(GRACE_SECONDS);
    test.refuses('rounds');
    expect(await test.resumer()(() => true)).toEqual({ ...NOTHING, left: 1 });
    expect(codes(test)).toContain('REDELIVERIES_NOT_SENT');
    test.refuses(undefined);
    expect(await test.resumer()(() => true)).toEqual({ ...NOTHING, sent: 1 });
  });

  it('is left to the next run when its organization is unknown', async () => {
    const test = aRedelivery();
    await aLostJob(test);
    test.organizationStates.forget(test.tenant.orgId);
    test.clock.elapse(GRACE_SECONDS);
    expect(await test.resumer()(() => true)).toEqual({ ...NOTHING, left: 1 });
    expect(codes(test)).toEqual(['REDELIVERY_NOT_LOOKED_AT']);
    expect(await test.runs()).toHaveLength(1);
  });

  it('is repeated when it could not be recorded', async () => {
    const test = aRedelivery();
    const job = await aLostJob(test);
    test.clock.elapse(GRACE_SECONDS);
    const forgetful = test.resumer(async (call) => {
      if (call === 'jobs.recordMessage') throw new Error('the table is busy');
    });
    expect(await forgetful(() => true)).toEqual({ ...NOTHING, sent: 1, left: 1 });
    expect(await test.resumer()(() => true)).toEqual({ ...NOTHING, sent: 1 });
    await test.run();
    expect(await test.made(job)).toHaveLength(1);
  });

  it('fails for an unreadable shard, and is done for the others', async () => {
    const test = aRedelivery();
    for (let index = 0; index < 30; index += 1) await test.startedFor(anEndpoint());
    test.messages.length = 0;
    test.clock.elapse(GRACE_SECONDS);
    let finds = 0;
    const half = test.resumer(async (call, stage) => {
      if (call !== 'jobs.findRuns' || stage !== 'calling') return;
      finds += 1;
      if (finds % 2 === 0) throw new Error('throttled');
    });
    await expect(half(() => true)).rejects.toThrow('throttled');
    expect(codes(test)).toContain('REDELIVERY_SHARD_UNREAD');
    const before = test.messages.length;
    expect(before).toBeGreaterThan(0);
    expect(await test.resumer()(() => true)).toEqual({ ...NOTHING, sent: 30 - before });
  });
});
