import { describe } from 'vitest';
import { failingWorker } from './background/failing-worker.ts';
import { recursion } from './background/recursion.ts';
import { aPlace } from './place.ts';

/*
 * Workers behind the event bus, with a meter that always fails because its table does not exist: its
 * messages become visible again at once and move to the dead-letter queue after three receives. Two functions
 * that feed their own queues lack RecursiveLoop.
 */
const place = aPlace({
  variables: { USAGE_TABLE: 'nowhere' },
  broken: 'meter',
  queues: { BusMeterQueue: { visibilityTimeout: 1, maxReceiveCount: 3 } },
  stoppedInLoops: ['redeliver', 'dead-fan-outs'],
});

describe('a worker that fails on everything', () => failingWorker(place));
describe('a function that feeds its own queue', () => recursion(place));
