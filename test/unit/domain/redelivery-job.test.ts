import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NoticeTypeName } from '../../../functions/domain/bus.ts';
import { newId } from '../../../functions/domain/ids.ts';
import { HISTORY_DAYS } from '../../../functions/domain/redelivery.ts';
import {
  beginningOf,
  FailedStatus,
  newJob,
  nextRound,
  progressOf,
  RedeliveryJob,
  redeliveriesOf,
  shownJob,
} from '../../../functions/domain/redelivery-job.ts';
import { aDelivery, aRedeliveryJob, aSandboxTenant, aTenant, later, NOW, seconds } from '../../builders.ts';

const active = { id: newId('whk', NOW), status: 'active' as const };
const DAY = seconds(86_400);
const statuses = FailedStatus.options;
const around = fc.integer({ min: -60 * DAY, max: 60 * DAY }).map((by) => later(NOW, by));
const at = { tenant: aTenant(), now: NOW };

describe('a new redelivery job', () => {
  it('has a time that is past, and in which events can be sent again, or is refused', () => {
    fc.assert(
      fc.property(around, fc.option(around, { nil: undefined }), (from, to) => {
        const asked = { from: from.toISOString(), ...(to && { to: to.toISOString() }), statuses };
        const order = newJob(asked, active, at);
        if (order.kind === 'refused') {
          expect(order.why).toBe('no-time');
          const end = to !== undefined && to < NOW ? to : NOW;
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

  it('is refused for an endpoint that is disabled', () => {
    const from = later(NOW, -DAY).toISOString();
    expect(newJob({ from, statuses }, { ...active, status: 'auto_disabled' }, at)).toEqual({
      kind: 'refused',
      why: 'endpoint-disabled',
    });
  });

  it('is told to its worker as any message of it, each with an identifier of its own', () => {
    const job = aRedeliveryJob({ ...aSandboxTenant(), traceId: 'a-trace' });
    const first = beginningOf(job);
    const second = nextRound({ ...job, round: 1 }, later(NOW, 1));
    const { kind, ...told } = first;
    expect(kind).toBe('notice');
    expect(NoticeTypeName.parse(second.type)).toBe(first.type);
    expect(second).toEqual({
      ...told,
      id: `${job.id}#round#2`,
      createdAt: later(NOW, 1).toISOString(),
      data: { webhookId: job.webhookId, redeliveryId: job.id, round: 2 },
    });
  });
});

describe('what a redelivery job owes', () => {
  it('is one delivery for each event that failed as it was asked for, the same whoever works it out', () => {
    const events = fc.array(
      fc.record({
        event: fc.nat(3),
        status: fc.constantFrom('pending', 'retrying', 'succeeded', 'exhausted', 'skipped'),
      }),
    );
    const ids = [0, 1, 2, 3].map(() => newId('evt', NOW));
    fc.assert(
      fc.property(events, fc.uniqueArray(fc.constantFrom(...statuses), { minLength: 1 }), (had, wanted) => {
        const job = aRedeliveryJob({ statuses: wanted });
        const examined = had.map(({ event, status }) =>
          aDelivery({ eventId: ids[event] ?? expect.fail(), status }),
        );
        const owed = redeliveriesOf(job, examined, NOW);
        expect(redeliveriesOf(job, examined, later(NOW, DAY))).toEqual(owed);
        const failed = examined.filter(({ status }) => wanted.some((one) => one === status));
        expect(owed.map(({ eventId }) => eventId)).toEqual([
          ...new Set(failed.map(({ eventId }) => eventId)),
        ]);
        for (const { redeliveryOf, eventId, webhookId, createdAt } of owed) {
          expect(redeliveryOf).toBe(failed.find((one) => one.eventId === eventId)?.id);
          expect([webhookId, createdAt]).toEqual([job.webhookId, job.createdAt]);
        }
      }),
    );
  });
});

describe('the progress of a redelivery job', () => {
  it('is nothing before it has begun, everything when it is done, and the part of its time in between', () => {
    const job = aRedeliveryJob();
    expect(progressOf(job)).toBe(0);
    expect(progressOf({ ...job, place: newId('dlv', later(NOW, -seconds(1800))) })).toBe(0.5);
    expect(progressOf({ ...job, status: 'done' })).toBe(1);
    expect(shownJob({ ...job, status: 'stopped', place: newId('dlv', NOW) })).toMatchObject({ progress: 1 });
  });

  it('never shrinks, whatever place follows', () => {
    const job = aRedeliveryJob();
    const times = fc.integer({ min: 0, max: 3600 }).map((by) => later(new Date(job.from), seconds(by)));
    fc.assert(
      fc.property(times, times, (one, other) => {
        const [first = one, second = other] = [one, other].toSorted((a, b) => a.getTime() - b.getTime());
        const progress = (time: Date) => progressOf({ ...job, place: newId('dlv', time) });
        expect(progress(first)).toBeLessThanOrEqual(progress(second));
        expect(progress(first)).toBeGreaterThanOrEqual(0);
        expect(progress(second)).toBeLessThanOrEqual(1);
      }),
    );
  });
});
