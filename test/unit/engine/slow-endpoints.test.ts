import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../functions/domain/endpoint.ts';
import type { ReceiverId } from '../../../functions/domain/ids.ts';
import { type SlowMarks, slowEndpoints } from '../../../functions/engine/endpoint-marks.ts';
import { anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';

/** The slow endpoints that one process knows, and the marks that it sets. */
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

describe('slow attempt', () => {
  it('marks its endpoint for two minutes', async () => {
    const { slow, marked } = aProcess();
    const endpoint = anEndpoint();
    const attempt = slow.watch(endpoint);

    attempt.onSlow();
    await attempt.done();

    expect(marked).toEqual([{ id: endpoint.id, until: later(NOW, seconds(120)) }]);
  });

  it('marks its endpoint once, for any number of slow attempts', async () => {
    const { slow, marked, clock } = aProcess();
    const endpoint = anEndpoint();

    for (let count = 0; count < 500; count += 1) {
      slow.watch(endpoint).onSlow();
      clock.elapse(0.1);
    }

    expect(marked).toHaveLength(1);
  });

  it("sets no mark when the endpoint's mark lasts for more than half of the time", () => {
    const { slow, marked } = aProcess();

    slow.watch(markedFor(anEndpoint(), 61)).onSlow();

    expect(marked).toEqual([]);
  });

  it('renews a mark that has run for half of its time, including one of another process', () => {
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

  it('ends only when its mark is set', async () => {
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

  it('sets no mark when it was fast', async () => {
    const { slow, marked } = aProcess();

    await slow.watch(anEndpoint()).done();

    expect(marked).toEqual([]);
  });
});

describe('unproven endpoint', () => {
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

  it('stays unproven when the answer came late', async () => {
    const { slow, proven, marked } = aProcess();
    const attempt = slow.watch(unproven());

    attempt.onSlow();
    attempt.onAnswer();
    await attempt.done();

    expect(marked).toHaveLength(1);
    expect(proven).toEqual([]);
  });

  it('stays unproven while it is marked as slow, by its item or by this process', () => {
    const { slow, proven } = aProcess();
    const endpoint = unproven();
    slow.watch(endpoint).onSlow();

    slow.watch(endpoint).onAnswer();
    slow.watch(markedFor(unproven(), 1)).onAnswer();

    expect(proven).toEqual([]);
  });

  it('takes one write, for any number of concurrent fast answers', () => {
    const { slow, proven } = aProcess();
    const endpoint = unproven();

    for (let count = 0; count < 100; count += 1) slow.watch(endpoint).onAnswer();

    expect(proven).toHaveLength(1);
  });

  it('takes another write after it was slow meanwhile, in this process or in another', () => {
    const { slow, proven, clock } = aProcess();
    const [here, elsewhere] = [unproven(), unproven()];
    for (const endpoint of [here, elsewhere]) slow.watch(endpoint).onAnswer();
    slow.watch(here).onSlow();
    clock.elapse(121);

    for (const endpoint of [here, elsewhere]) slow.watch(endpoint).onAnswer();

    expect(proven).toEqual([here.id, elsewhere.id, here.id, elsewhere.id]);
  });

  it('takes no write once it is proven', () => {
    const { slow, proven } = aProcess();

    slow.watch(anEndpoint()).onAnswer();

    expect(proven).toEqual([]);
  });
});

describe('slow mark that cannot be written', () => {
  it("is logged and affects neither the attempt nor the process's own state", async () => {
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

describe('set of slow endpoints', () => {
  it('includes those that are marked by their item or by this process', () => {
    const { slow } = aProcess();
    const [quick, slowOne] = [anEndpoint(), anEndpoint()];

    slow.watch(slowOne).onSlow();

    expect(slow.has(quick)).toBe(false);
    // The item was read before it was marked.
    expect(slow.has(slowOne)).toBe(true);
    expect(slow.has(markedFor(anEndpoint(), 1))).toBe(true);
  });

  it('drops endpoints whose marks have expired', () => {
    const { slow, clock } = aProcess();
    const endpoint = anEndpoint();
    slow.watch(endpoint).onSlow();

    clock.elapse(120);

    expect(slow.has(endpoint)).toBe(false);
  });

  it('is bounded, and keeps the newest', () => {
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
