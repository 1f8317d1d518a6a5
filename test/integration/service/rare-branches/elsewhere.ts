import type { Branch } from './branches.ts';

/** A row of the printed table. */
export interface Ran extends Pick<Branch, 'branch' | 'fn' | 'actions'> {
  where: string;
}

/** Branches that other tests take under the same roles. */
export const ELSEWHERE: readonly Ran[] = [
  {
    branch: 'signature with a key version that is not cached',
    fn: 'dispatch',
    actions: ['GetSecretValue SigningKeys'],
    where: 'local-run.test.ts, keys that are rotated',
  },
  {
    branch: 'delivery message gives up',
    fn: 'dead-delivery-messages',
    actions: ['UpdateItem Deliveries'],
    where: 'sandbox/network/invocations.ts',
  },
  {
    branch: 'stream record gives up; the event fails again and is postponed',
    fn: 'dead-fan-outs',
    actions: ['GetShardIterator', 'GetRecords', 'GetItem Outbox', 'SendMessage DeadFanOuts'],
    where: 'background/dead-letters.test.ts',
  },
  {
    branch: 'first attempt goes to the slow or stalled queue',
    fn: 'dead-fan-outs',
    actions: ['SendMessage Slow', 'SendMessage Stalled'],
    where: 'background/dead-letters.test.ts',
  },
  {
    branch: 'stream record gives up; the event fails again and is postponed',
    fn: 'dead-publications',
    actions: ['GetShardIterator', 'GetRecords', 'GetItem Outbox', 'SendMessage DeadPublications'],
    where: 'background/dead-letters.test.ts',
  },
  {
    branch: 'first attempt goes to the slow or stalled queue',
    fn: 'redeliver',
    actions: ['SendMessage Slow', 'SendMessage Stalled'],
    where: 'background/redeliveries.test.ts',
  },
  {
    branch: 'events were counted before',
    fn: 'meter',
    actions: ['BatchGetItem Usage'],
    where: 'background/usage.test.ts',
  },
];
