import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../functions/domain/endpoint.ts';
import { STALLED_SECONDS } from '../../../functions/domain/lanes.ts';
import { type StalledMarks, stalledEndpoints } from '../../../functions/engine/endpoint-marks.ts';
import { anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';

const HALF = STALLED_SECONDS / 2;

/** The stalled endpoints that one process knows, and the marks that it writes. */
function aProcess(write: () => Promise<void> = async () => undefined) {
  const clock = new VirtualClock();
  const log = recordedLog();
  const written: { set?: Date; ended?: string }[] = [];
  const marks: StalledMarks = {
    markStalled(_orgId, _id, set) {
      written.push({ set });
      return write();
    },
    endStalled(_orgId, _id, ended) {
      written.push({ ended });
      return write();
    },
  };
  return { clock, log, written, stalled: stalledEndpoints({ marks, log, now: clock.now }) };
}

const markedFor = (endpoint: Endpoint, left: number): Endpoint => ({
  ...endpoint,
  stalledUntil: later(NOW, seconds(left)).toISOString(),
});

describe('stalled attempt', () => {
  it('marks its endpoint for as long as the longest wait between attempts', async () => {
    const { stalled, written } = aProcess();

    await stalled.note(anEndpoint(), true);

    expect(written).toEqual([{ set: later(NOW, seconds(3600)) }]);
  });

  it('marks its endpoint once, for any number of stalled attempts of a batch', async () => {
    const { stalled, written } = aProcess();
    const endpoint = anEndpoint();

    await Promise.all(Array.from({ length: 10 }, () => stalled.note(endpoint, true)));

    expect(written).toHaveLength(1);
  });

  it('writes nothing while the mark lasts for more than half of its time, and renews it then', async () => {
    const { stalled, written } = aProcess();

    await stalled.note(markedFor(anEndpoint(), HALF + 1), true);
    expect(written).toEqual([]);

    await stalled.note(markedFor(anEndpoint(), HALF), true);
    expect(written).toEqual([{ set: later(NOW, seconds(3600)) }]);
  });

  it('marks an endpoint again that this process has just found healthy', async () => {
    const { stalled, written } = aProcess();
    const endpoint = markedFor(anEndpoint(), 3000);

    await stalled.note(endpoint, false);
    await stalled.note(endpoint, true);

    expect(written).toEqual([{ ended: endpoint.stalledUntil }, { set: later(NOW, seconds(3600)) }]);
    expect(stalled.has(endpoint)).toBe(true);
  });
});

describe('attempt that does not stall', () => {
  it('writes nothing when its endpoint has no mark or an expired one', async () => {
    const { stalled, written } = aProcess();

    await stalled.note(anEndpoint(), false);
    await stalled.note(markedFor(anEndpoint(), 0), false);

    expect(written).toEqual([]);
  });

  it('ends the mark of its endpoint, once for all attempts of a batch', async () => {
    const { stalled, written } = aProcess();
    const endpoint = markedFor(anEndpoint(), 100);

    await Promise.all(Array.from({ length: 10 }, () => stalled.note(endpoint, false)));

    expect(written).toEqual([{ ended: endpoint.stalledUntil }]);
    // The item was read before its mark was ended.
    expect(stalled.has(endpoint)).toBe(false);
  });

  it('does not hide a later mark of another process', async () => {
    const { stalled } = aProcess();
    const endpoint = markedFor(anEndpoint(), 100);

    await stalled.note(endpoint, false);

    expect(stalled.has(markedFor(endpoint, 3000))).toBe(true);
  });
});

describe('stalled mark that cannot be written', () => {
  it("is logged, and affects neither the attempt nor the process's own state", async () => {
    const { stalled, log } = aProcess(async () => {
      throw new Error('the table is throttled');
    });
    const endpoint = anEndpoint();

    await stalled.note(endpoint, true);

    expect(stalled.has(endpoint)).toBe(true);
    expect(log.entries).toMatchObject([
      { level: 'warn', fields: { webhookId: endpoint.id, error: new Error('the table is throttled') } },
    ]);
  });
});

describe('set of stalled endpoints', () => {
  it('includes those that are marked by their item or by this process', async () => {
    const { stalled } = aProcess();
    const [quick, hanging] = [anEndpoint(), anEndpoint()];

    await stalled.note(hanging, true);

    expect(stalled.has(quick)).toBe(false);
    expect(stalled.has(hanging)).toBe(true);
    expect(stalled.has(markedFor(anEndpoint(), 1))).toBe(true);
  });

  it('follows the item after 30 seconds, since others may have ended the mark', async () => {
    const { stalled, clock } = aProcess();
    const endpoint = anEndpoint();
    await stalled.note(endpoint, true);

    clock.elapse(30);

    expect(stalled.has(endpoint)).toBe(false);
    expect(stalled.has(markedFor(endpoint, 3600))).toBe(true);
  });

  it('is bounded, and keeps the newest', async () => {
    const { stalled } = aProcess();
    const endpoints = Array.from({ length: 2_500 }, () => anEndpoint());

    for (const endpoint of endpoints) await stalled.note(endpoint, true);

    const known = endpoints.filter((endpoint) => stalled.has(endpoint));
    expect(known.length).toBeLessThanOrEqual(1_000);
    expect(known).toContain(endpoints.at(-1));
  });
});
