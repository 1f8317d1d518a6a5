import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deriveDeliveryId, deriveJobDeliveryId, newId } from '../../../functions/aws/ids.ts';
import { isFromJob } from '../../../functions/delivery/redelivery.ts';
import { BusEvent } from '../../../functions/events/bus.ts';
import { HISTORY_DAYS } from '../../../functions/events/events.ts';
import {
  buildRound,
  computeProgress,
  createJob,
  FailedStatus,
  RedeliveryJob,
  toJobView,
} from '../../../functions/redelivery/jobs.ts';
import {
  createJobDelivery,
  isWanted,
  listFirstDeliveries,
  selectDeliveries,
} from '../../../functions/redelivery/selection.ts';
import { aDelivery, aRedeliveryJob, aSandboxTenant, aTenant, later, NOW, seconds } from '../../builders.ts';

const active = { id: newId('whk', NOW), status: 'active' as const };
const DAY = seconds(86_400);
const statuses = FailedStatus.options;
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
      why: 'endpoint-disabled',
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

describe("redelivery job's selection of a page", () => {
  const HOUR = seconds(3600);
  /** Events within the job's time range, and before it. */
  const events = [1, 2, 30, 90, 120].map((minutes) => newId('evt', later(NOW, -seconds(60 * minutes))));
  const anyStatus = fc.constantFrom('pending', 'retrying', 'succeeded', 'exhausted', 'skipped');
  const page = fc.array(fc.record({ event: fc.nat(events.length - 1), status: anyStatus }));
  /** For each event: whether its first delivery is on this page, and its status elsewhere if it is stored. */
  const firsts = fc.array(
    fc.record({ isHere: fc.boolean(), elsewhere: fc.option(anyStatus, { nil: undefined }) }),
    { minLength: events.length, maxLength: events.length },
  );
  const wanted = fc.uniqueArray(fc.constantFrom(...statuses), { minLength: 1 });

  it('is one delivery for each event that failed, unless another page has its first one', () => {
    fc.assert(
      fc.property(page, firsts, wanted, (had, firstOf, asked) => {
        const job = aRedeliveryJob({ statuses: asked });
        const { webhookId } = job;
        const fails = (status: unknown) => asked.some((one) => one === status);
        const isWithin = (event: number) => event < 3;
        const examined = had.map(({ event, status }, index) => {
          const eventId = events[event] ?? expect.fail();
          const isFirst = firstOf[event]?.isHere && had.findIndex((one) => one.event === event) === index;
          const id = deriveJobDeliveryId(eventId, webhookId, later(NOW, -HOUR + index));
          return aDelivery({ eventId, webhookId, status, ...(isFirst ? {} : { id }) });
        });
        const failed = examined.filter(({ status }) => isWanted(job, status));
        const found = new Map(
          listFirstDeliveries(job, failed).flatMap(({ id }) => {
            const event = events.findIndex((one) => deriveDeliveryId(one, webhookId) === id);
            const status = examined.find((one) => one.id === id)?.status ?? firstOf[event]?.elsewhere;
            return status === undefined ? [] : [[id, { status }] as const];
          }),
        );

        const selected = selectDeliveries(job, failed, found, NOW);

        for (const [event, eventId] of events.entries()) {
          const own = failed.find((one) => one.eventId === eventId);
          const isFirst = own?.id === deriveDeliveryId(eventId, webhookId);
          const first = found.get(deriveDeliveryId(eventId, webhookId));
          const isElsewhere = !isFirst && isWithin(event) && fails(first?.status);
          expect(selected.filter((one) => one.eventId === eventId)).toEqual(
            own === undefined || isElsewhere ? [] : [own],
          );
        }
      }),
    );
  });

  it('creates deliveries that repeat the examined one, if there is one', () => {
    const job = aRedeliveryJob();
    const { eventId, ...delivery } = aDelivery({ webhookId: job.webhookId, status: 'exhausted' });
    const created = createJobDelivery(job, { ...delivery, eventId }, later(NOW, 1));
    expect(created.redeliveryOf).toBe(delivery.id);
    expect(isFromJob(created)).toBe(true);
    const { eventType } = delivery;
    expect(createJobDelivery(job, { eventId, eventType }, NOW)).not.toHaveProperty('redeliveryOf');
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

  it('never shrinks with later places', () => {
    const job = aRedeliveryJob();
    const times = fc.integer({ min: 0, max: 3600 }).map((by) => later(new Date(job.from), seconds(by)));
    fc.assert(
      fc.property(times, times, (one, other) => {
        const [first = one, second = other] = [one, other].toSorted((a, b) => a.getTime() - b.getTime());
        const progress = (time: Date) => computeProgress({ ...job, place: newId('dlv', time) });
        expect(progress(first)).toBeLessThanOrEqual(progress(second));
        expect(progress(first)).toBeGreaterThanOrEqual(0);
        expect(progress(second)).toBeLessThanOrEqual(1);
      }),
    );
  });
});
