import { describe, expect, it } from 'vitest';
import { campaign } from './campaign.ts';
import { HAPPENINGS } from './faults.ts';
import { simulate } from './simulate.ts';

describe('the service, whatever goes wrong', () => {
  it('keeps its promises with the seeds 1 to 2000, in which everything happens that can', async () => {
    const { findings, statistics } = await campaign({ runs: 2000, seed: 1, workers: 2 }, () => undefined);

    expect(findings.map(({ seed, violation }) => ({ seed, ...violation }))).toEqual([]);

    const seldom = [...HAPPENINGS, ...FATES, ...ENDS].filter((name) => statistics.of(name) === 0);
    expect(seldom).toEqual([]);
  });
});

const FATES = [
  'ends',
  'ends-after',
  'lands-late',
  'fails',
  'fails-after',
  'answers-late',
  'repeats',
  'contends',
].map((fate) => `calls: ${fate}`);

const ENDS = [
  'deliveries: succeeded',
  'deliveries: exhausted, max_attempts',
  'deliveries: skipped, endpoint_deleted',
  'deliveries: skipped, endpoint_disabled',
  'deliveries: skipped, event_missing',
  'deliveries: skipped, expired',
  'endpoints disabled',
  'duplicates at receivers',
  'parked deliveries resumed',
  'reminders sent again',
  'messages given up',
  'fan-outs given up',
  'timeouts',
  'processes beyond their time',
  'calm runs',
  'runs beyond the margin',
];

describe('a seed', () => {
  it('gives the same run each time, to the last line of its trace', async () => {
    const traces = [];
    for (let run = 0; run < 2; run += 1) {
      const lines: string[] = [];
      const { counts } = await simulate(14, (line) => lines.push(line));
      traces.push({ lines, counts });
    }

    expect(traces[1]).toEqual(traces[0]);
    expect(traces[0]?.lines.length).toBeGreaterThan(100);
  });

  it('gives another run than the next', async () => {
    const one = await simulate(14);
    const another = await simulate(15);

    expect(one.counts).not.toEqual(another.counts);
  });
});
