import { describe } from 'vitest';
import { changedContent } from './background/changed-content.ts';
import { failingWorker } from './background/failing-worker.ts';
import { recursion } from './background/recursion.ts';
import { aPlace } from './place.ts';

/*
 * What works behind the event bus, as the template runs here: with a meter that can do nothing, because its
 * table is none. Its messages come back at once and are given up after three times, while everything else
 * goes on. Two functions that feed their own queues lack RecursiveLoop.
 */
const place = aPlace({
  context: { syncCooldownSeconds: 0 },
  variables: { USAGE_TABLE: 'nowhere' },
  broken: 'meter',
  queues: { BusMeterQueue: { visibilityTimeout: 1, maxReceiveCount: 3 } },
  stoppedInLoops: ['redeliver', 'dead-fan-outs'],
});

describe('content', () => changedContent(place));
describe('a worker that fails on everything', () => failingWorker(place));
describe('a function that feeds its own queue', () => recursion(place));
