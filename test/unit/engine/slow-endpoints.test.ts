import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../functions/domain/endpoint.ts';
import type { ReceiverId } from '../../../functions/domain/ids.ts';
import { type SlowMarks, slowEndpoints } from '../../../functions/engine/endpoint-marks.ts';
import { anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';

/** What one process knows of slow endpoints, with the marks that it sets. */
function aProcess(markSlow?: SlowMarks['markSlow'], markProven?: SlowMarks['markProven']) {
  const clock = new VirtualClock();
  const log = recordedLog();
  const marked: { id: ReceiverId; until: Date }[] = [];
  const proven: ReceiverId[] = [];
  const marks: SlowMarks = {
    async markSlow(orgId, id, until) {
      marked.push({ id, until });
      await markSlow?.(orgId, id, until);
    },
    async markProven(orgId, id, now) {
      proven.push(id);
      await markProven?.(orgId, id, now);
    },
  };
  return { clock, log, marked, proven, slow: slowEndpoints({ marks, log, now: clock.now }) };
}

const markedFor = (endpoint: Endpoint, left: number): Endpoint => ({
  ...endpoint,
  slowUntil: later(NOW, seconds(left)).toISOString(),
});

describe('an attempt that is slow', () => {
  it('marks its endpoint for two minutes', async () => {
    const { slow, marked } = aProcess();
    const endpoint = anEndpoint();
    const attempt = slow.watch(endpoint);

    attempt.onSlow();
    await attempt.done();

    expect(marked).toEqual([{ id: endpoint.id, until: later(NOW, seconds(120)) }]);
  });

  it('marks it once, however many attempts at it are slow', async () => {
    const { slow, marked, clock } = aProcess();
    const endpoint = anEndpoint();

    for (let count = 0; count < 500; count += 1) {
      slow.watch(endpoint).onSlow();
      clock.elapse(0.1);
    }

    expect(marked).toHaveLength(1);
  });

  it('marks nothing when the endpoint came marked for more than half of the time', () => {
    const { slow, marked } = aProcess();

    slow.watch(markedFor(anEndpoint(), 61)).onSlow();

    expect(marked).toEqual([]);
  });

  it('renews a mark that has run for half of its time, whoever set it', () => {
    const { slow, marked, clock } = aProcess();
    const endpoint = anEndpoint();
    slow.watch(endpoint).onSlow();
    clock.elapse(60);

    slow.watch(endpoint).onSlow();
    slow.watch(markedFor(anEndpoint(), 120)).onSlow();

    expect(marked.map(({ until }) => until)).toEqual([
      later(NOW, seconds(120)),
      later(NOW, seconds(180)),
      later(NOW, seconds(180)),
    ]);
  });

  it('is waited for until its mark is set', async () => {
    const set = Promise.withResolvers<void>();
    const { slow } = aProcess(() => set.promise);
    const attempt = slow.watch(anEndpoint());
    attempt.onSlow();
    const order: string[] = [];
    const done = attempt.done().then(() => order.push('the worker ends'));

    await Promise.resolve();
    order.push('the mark is set');
    set.resolve();
    await done;

    expect(order).toEqual(['the mark is set', 'the worker ends']);
  });

  it('leaves nothing to wait for when it was not slow at all', async () => {
    const { slow, marked } = aProcess();

    await slow.watch(anEndpoint()).done();

    expect(marked).toEqual([]);
  });
});

describe('an endpoint that is unproven', () => {
  const unproven = () => anEndpoint({ unproven: true });

  it('is slow until an attempt was answered fast', async () => {
    const { slow, proven } = aProcess();
    const endpoint = unproven();
    expect(slow.has(endpoint)).toBe(true);

    const attempt = slow.watch(endpoint);
    attempt.onAnswer();
    await attempt.done();

    expect(proven).toEqual([endpoint.id]);
  });

  it('stays so when the answer came late', async () => {
    const { slow, proven, marked } = aProcess();
    const attempt = slow.watch(unproven());

    attempt.onSlow();
    attempt.onAnswer();
    await attempt.done();

    expect(marked).toHaveLength(1);
    expect(proven).toEqual([]);
  });

  it('stays so while it is marked as slow, by its item or by this process', () => {
    const { slow, proven } = aProcess();
    const endpoint = unproven();
    slow.watch(endpoint).onSlow();

    slow.watch(endpoint).onAnswer();
    slow.watch(markedFor(unproven(), 1)).onAnswer();

    expect(proven).toEqual([]);
  });

  it('takes one write, however many attempts are answered fast at once', () => {
    const { slow, proven } = aProcess();
    const endpoint = unproven();

    for (let count = 0; count < 100; count += 1) slow.watch(endpoint).onAnswer();

    expect(proven).toHaveLength(1);
  });

  it('takes another write when it was slow meanwhile, in this process or in another', () => {
    const { slow, proven, clock } = aProcess();
    const [here, elsewhere] = [unproven(), unproven()];
    for (const endpoint of [here, elsewhere]) slow.watch(endpoint).onAnswer();
    slow.watch(here).onSlow();
    clock.elapse(121);

    for (const endpoint of [here, elsewhere]) slow.watch(endpoint).onAnswer();

    expect(proven).toEqual([here.id, elsewhere.id, here.id, elsewhere.id]);
  });

  it('costs nothing once it is proven', () => {
    const { slow, proven } = aProcess();

    slow.watch(anEndpoint()).onAnswer();

    expect(proven).toEqual([]);
  });
});

describe('a mark that cannot be set', () => {
  it('is logged and harms neither the attempt nor what this process knows', async () => {
    const { slow, log } = aProcess(async () => {
      throw new Error('the table is throttled');
    });
    const endpoint = anEndpoint();
    const attempt = slow.watch(endpoint);

    attempt.onSlow();
    await attempt.done();

    expect(slow.has(endpoint)).toBe(true);
    expect(log.entries).toMatchObject([
      { level: 'warn', fields: { webhookId: endpoint.id, error: new Error('the table is throttled') } },
    ]);
  });
});

describe('which endpoints are slow', () => {
  it('is known from their items, and at once from what this process has found out', () => {
    const { slow } = aProcess();
    const [quick, slowOne] = [anEndpoint(), anEndpoint()];

    slow.watch(slowOne).onSlow();

    expect(slow.has(quick)).toBe(false);
    // As it was read before it was marked.
    expect(slow.has(slowOne)).toBe(true);
    expect(slow.has(markedFor(anEndpoint(), 1))).toBe(true);
  });

  it('is forgotten when the marks have run out', () => {
    const { slow, clock } = aProcess();
    const endpoint = anEndpoint();
    slow.watch(endpoint).onSlow();

    clock.elapse(120);

    expect(slow.has(endpoint)).toBe(false);
  });

  it('takes a bounded amount of memory, and keeps the newest', () => {
    const { slow, clock } = aProcess();
    const endpoints = Array.from({ length: 2_500 }, () => anEndpoint());

    for (const endpoint of endpoints) slow.watch(endpoint).onSlow();

    const known = endpoints.filter((endpoint) => slow.has(endpoint));
    expect(known.length).toBeLessThanOrEqual(1_000);
    expect(known).toContain(endpoints.at(-1));
    clock.elapse(120);
    expect(endpoints.filter((endpoint) => slow.has(endpoint))).toEqual([]);
  });
});
