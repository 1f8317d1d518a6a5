import { describe, expect, it } from 'vitest';
import { campaign } from './campaign.ts';
import { newSeeds } from './new-seeds.ts';
import { replayOf } from './report.ts';
import { simulate } from './simulate.ts';

it('the service keeps its promises under faults, with seeds that no run had before', async () => {
  const { seed, runs } = newSeeds();
  process.stdout.write(`simulation: ${runs} seeds from ${seed} on\n`);
  const { findings } = await campaign({ seed, runs, workers: 2 }, () => undefined);

  expect(findings.map((found) => ({ ...found.violation, repeat: replayOf(found.seed) }))).toEqual([]);
});

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
    const first = await simulate(14);
    const another = await simulate(15);

    expect(first.counts).not.toEqual(another.counts);
  });
});
