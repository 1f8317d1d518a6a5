import { describe, expect, it } from 'vitest';
import { campaign } from './campaign.ts';
import { HAPPENINGS } from './faults.ts';

describe('the service under faults', () => {
  it('keeps its promises with the seeds 1 to 2000, in which every kind of event happens', async () => {
    const { findings, statistics } = await campaign({ runs: 2000, seed: 1, workers: 2 }, () => undefined);

    expect(findings.map(({ seed, violation }) => ({ seed, ...violation }))).toEqual([]);

    const seldom = [...HAPPENINGS, ...OUTCOMES, ...ENDS, ...RESETS].filter(
      (name) => statistics.of(name) === 0,
    );
    expect(seldom).toEqual([]);
  });
});

const OUTCOMES = [
  'ends',
  'ends-after',
  'lands-late',
  'fails',
  'fails-after',
  'arrives-late',
  'answers-late',
  'repeats',
  'contends',
].map((outcome) => `calls: ${outcome}`);

const ENDS = [
  'deliveries: succeeded',
  'deliveries of sandboxes: succeeded, sandbox_simulated',
  'deliveries of sandboxes: exhausted, max_attempts',
  'deliveries at another speed',
  'deliveries: exhausted, max_attempts',
  'deliveries: skipped, endpoint_deleted',
  'deliveries: skipped, endpoint_disabled',
  'deliveries: skipped, event_missing',
  'deliveries: skipped, expired',
  'endpoints disabled',
  'warnings of failures',
  'duplicates at receivers',
  'e-mails: overBudget',
  'e-mails: ceiling',
  'e-mails: failed',
  'e-mails: unknown',
  'batches of the stalled lane',
  'parked deliveries resumed',
  'delivery messages resent',
  'messages given up',
  'fan-outs given up',
  'timeouts',
  'processes beyond their time',
  'calm runs',
  'runs beyond the margin',
];

/** What resets interrupt, the effects on deleted data, and reasons that close the gate. */
const RESETS = [
  'resets: attempts in progress',
  'resets: attempts of lost workers',
  'resets: deliveries parked',
  'resets: deliveries between two attempts',
  'resets: messages in queues',
  'resets: changes not counted',
  'resets: events not fanned out',
  'resets: an earlier purge not done',
  'events committed after their reset',
  'rows added after their reset',
  'messages of deleted data',
  'changes of deleted data',
  'dead letters of deleted data',
  'dead fan-outs of deleted data',
  'deleted while in progress: adds a delivery',
  'deleted while in progress: claims',
  'deleted while in progress: counts a change',
  'rows purged',
  'purges closed',
  'runs of the purge that failed',
  'attempts simulated',
  'attempts before a closed gate',
  'organizations not found',
];
