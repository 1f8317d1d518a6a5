import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { endpointPaces, NEW, type PaceMark, type SetPace } from '../../../functions/receivers/pace.ts';
import { anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';

const DEADLINE = 10;

/** The paces that one process knows, and the marks that it writes. */
function aProcess(write: () => Promise<void> = async () => undefined) {
  const clock = new VirtualClock();
  const log = recordedLog();
  const written: (PaceMark | undefined)[] = [];
  const setPace: SetPace = (_orgId, _id, _seen, mark) => {
    written.push(mark);
    return write();
  };
  const paces = endpointPaces({ setPace, log, now: clock.now }, DEADLINE);
  /** An attempt of so many seconds. */
  async function attempt(endpoint: Endpoint, elapsed: number, result: { status?: number } = { status: 200 }) {
    const timer = paces.watch(endpoint);
    if (elapsed >= 1) timer.onSlow();
    timer.onEnd(result, elapsed);
    await timer.done();
  }
  return { clock, log, written, paces, attempt };
}

const until = (left: number) => later(NOW, seconds(left)).toISOString();
const slowFor = (left: number): PaceMark => ({ is: 'slow', until: until(left) });
const stalledFor = (left: number): PaceMark => ({ is: 'stalled', until: until(left) });

describe('the mark of an endpoint', () => {
  it.each<
    [
      string,
      mark: PaceMark | undefined,
      elapsed: number,
      result: { status?: number },
      (PaceMark | undefined)[],
    ]
  >([
    ['none, answered fast', undefined, 0.1, { status: 200 }, []],
    ['none, failed fast', undefined, 0.1, {}, []],
    ['none, answered slowly', undefined, 1, { status: 500 }, [slowFor(120)]],
    ['none, stalled', undefined, DEADLINE, {}, [slowFor(120), stalledFor(3600)]],
    ['new, answered fast', NEW, 0.1, { status: 500 }, [undefined]],
    ['new, failed fast', NEW, 0.1, {}, []],
    ['new, answered slowly', NEW, 1, { status: 200 }, [slowFor(120)]],
    ['slow, answered fast', slowFor(1), 0.1, { status: 200 }, []],
    ['slow until now, answered fast', slowFor(0), 0.1, { status: 200 }, [undefined]],
    ['slow for more than half of its time, answered slowly', slowFor(61), 1, { status: 200 }, []],
    ['slow for half of its time, answered slowly', slowFor(60), 1, { status: 200 }, [slowFor(120)]],
    ['stalled, answered fast', stalledFor(1), 0.1, { status: 200 }, [NEW]],
    ['stalled, failed fast', stalledFor(1), 0.1, {}, [NEW]],
    ['stalled, answered slowly', stalledFor(1), 1, { status: 200 }, [slowFor(120)]],
    ['stalled until now, answered fast', stalledFor(0), 0.1, { status: 200 }, [undefined]],
    ['stalled for more than half of its time, stalled', stalledFor(1801), DEADLINE, {}, []],
    ['stalled for half of its time, stalled', stalledFor(1800), DEADLINE, {}, [stalledFor(3600)]],
  ])('%s', async (_, pace, elapsed, result, marks) => {
    const { attempt, written } = aProcess();
    await attempt(anEndpoint(pace && { pace }), elapsed, result);
    expect(written).toEqual(marks);
  });

  it('is written once for any number of attempts of a batch, whose row was read before', async () => {
    const { attempt, written, paces } = aProcess();
    const endpoint = anEndpoint();
    await Promise.all(Array.from({ length: 100 }, () => attempt(endpoint, DEADLINE, {})));
    expect(written).toEqual([slowFor(120), stalledFor(3600)]);
    expect(paces.of(endpoint)).toBe('stalled');
  });

  it('makes an endpoint fast again by two fast answers after it stalled', async () => {
    const { attempt, paces } = aProcess();
    const endpoint = anEndpoint({ pace: stalledFor(3600) });
    expect(paces.of(endpoint)).toBe('stalled');
    await attempt(endpoint, 0.1);
    expect(paces.of(endpoint)).toBe('slow');
    await attempt(endpoint, 0.1);
    expect(paces.of(endpoint)).toBe('fast');
  });

  it('follows the row after 30 seconds, since others may have changed it', async () => {
    const { attempt, paces, clock } = aProcess();
    const endpoint = anEndpoint();
    await attempt(endpoint, 1);
    expect(paces.of(endpoint)).toBe('slow');
    clock.elapse(30);
    expect(paces.of(endpoint)).toBe('fast');
    expect(paces.of({ ...endpoint, pace: slowFor(120) })).toBe('slow');
  });

  it("that cannot be written is logged, and affects neither the attempt nor the process's own state", async () => {
    const { attempt, paces, log } = aProcess(async () => {
      throw new Error('the table is throttled');
    });
    const endpoint = anEndpoint();
    await attempt(endpoint, 1);
    expect(paces.of(endpoint)).toBe('slow');
    expect(log.entries).toMatchObject([
      { level: 'warn', fields: { webhookId: endpoint.id, error: new Error('the table is throttled') } },
    ]);
  });

  it('is cached for a bounded number of endpoints, the newest among them', async () => {
    const { attempt, paces } = aProcess();
    const endpoints = Array.from({ length: 2_500 }, () => anEndpoint());
    for (const endpoint of endpoints) await attempt(endpoint, 1);
    const slow = endpoints.filter((endpoint) => paces.of(endpoint) === 'slow');
    expect(slow.length).toBeLessThanOrEqual(1_000);
    expect(slow).toContain(endpoints.at(-1));
  });
});
