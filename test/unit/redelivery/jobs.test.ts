import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { BusEvent } from '../../../functions/events/bus.ts';
import { HISTORY_DAYS } from '../../../functions/events/events.ts';
import {
  buildRound,
  computeProgress,
  createJob,
  FAILED_STATUSES,
  RedeliveryJob,
  toJobView,
} from '../../../functions/redelivery/jobs.ts';
import { aRedeliveryJob, aSandboxTenant, aTenant, later, NOW, seconds } from '../../builders.ts';

const active = { id: newId('whk', NOW), status: 'active' as const };
const DAY = seconds(86_400);
const statuses = FAILED_STATUSES;
const around = fc.integer({ min: -60 * DAY, max: 60 * DAY }).map((by) => later(NOW, by));
const at = { tenant: aTenant(), now: NOW };

describe('new redelivery job', () => {
  it('has a past time range whose events can be resent, or is refused', () => {
    fc.assert(
      fc.property(around, fc.option(around, { nil: undefined }), (from, to) => {
        const asked = { from: from.toISOString(), ...(to && { to: to.toISOString() }), statuses };
        const order = createJob(asked, active, at);
        if (order.kind === 'refused') {
          const end = to !== undefined && to < NOW ? to : NOW;
          expect(order.why).toBe(from >= end ? 'no-time' : 'too-old');
          expect(from >= end || end <= later(NOW, -HISTORY_DAYS * DAY)).toBe(true);
          return;
        }
        const { job } = order;
        expect(RedeliveryJob.parse(job)).toEqual(job);
        expect(Date.parse(job.from)).toBe(Math.max(from.getTime(), NOW.getTime() - HISTORY_DAYS * DAY));
        expect(Date.parse(job.to)).toBe(Math.min((to ?? NOW).getTime(), NOW.getTime()));
        expect(job.from < job.to && job.to <= job.createdAt).toBe(true);
      }),
    );
  });

  it('is refused for a disabled endpoint', () => {
    const from = later(NOW, -DAY).toISOString();
    expect(createJob({ from, statuses }, { ...active, status: 'auto_disabled' }, at)).toEqual({
      kind: 'refused',
      why: 'auto_disabled',
    });
  });

  it('has a message for each round, with an id of its own', () => {
    const job = aRedeliveryJob({ ...aSandboxTenant(), traceId: 'a-trace' });
    const first = buildRound(job, 1, NOW);
    expect(BusEvent.parse(first).type).toBe('webhook.redelivery');
    expect(buildRound(job, 2, later(NOW, 1))).toEqual({
      ...first,
      id: `${job.id}#round#2`,
      createdAt: later(NOW, 1).toISOString(),
      data: { webhookId: job.webhookId, redeliveryId: job.id, round: 2 },
    });
  });
});

describe('progress of a redelivery job', () => {
  it('is 0 before it begins, 1 when it is done, and the part of its time range in between', () => {
    const job = aRedeliveryJob();
    expect(computeProgress(job)).toBe(0);
    expect(computeProgress({ ...job, place: newId('dlv', later(NOW, -seconds(1800))) })).toBe(0.5);
    expect(computeProgress({ ...job, status: 'done' })).toBe(1);
    expect(toJobView({ ...job, status: 'stopped', place: newId('dlv', NOW) })).toMatchObject({ progress: 1 });
  });
});
