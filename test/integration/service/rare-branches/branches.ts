import type { Fault, FaultPlan } from 'aws-local/functions/sandbox/faults.ts';
import type { FunctionName } from '../../../../lib/infra/grants/grant.ts';
import type { Provocations } from './provocations.ts';

/** Number of tries of a transaction (functions/aws/transaction.ts). */
const CONTENDED: Fault[] = Array.from({ length: 6 }, () => 'conflict');
/** Number of tries of a request by the SDK (functions/aws/clients.ts). */
const THROTTLED: Fault[] = ['throttled', 'throttled', 'throttled'];

/** By function: those of its first requests of an operation, in each process. */
export const FAULTS: Partial<Record<FunctionName, FaultPlan>> = {
  dispatch: { BatchGetItem: ['missed', 'unprocessed'], TransactWriteItems: CONTENDED, UpdateItem: ['lost'] },
  redeliver: {
    BatchGetItem: ['unprocessed', 'none', 'unprocessed'],
    TransactWriteItems: ['conflict', 'none', 'conflict'],
  },
  'list-api-keys': { BatchGetItem: ['unprocessed'] },
  meter: { TransactWriteItems: CONTENDED, BatchGetItem: ['unprocessed'] },
  purge: { BatchWriteItem: ['unprocessed'] },
  'create-message': { TransactWriteItems: ['conflict', 'lost'] },
  'check-source': { TransactWriteItems: ['conflict'] },
  'fan-out': { Query: THROTTLED, PutItem: ['conflict'] },
  // No fault: the service only reports each request.
  'list-conversations': {},
};

export interface Branch {
  branch: string;
  fn: FunctionName;
  /**
   * The branch starts after that many faults in a row; one when absent. Without a fault, `provoke` alone
   * takes the branch.
   */
  fault?: readonly [operation: string, fault: Fault, times?: number];
  /** What the function does next, as `action resource`, in any order. */
  actions: readonly string[];
  /** Runs before, so that its requests are not taken for those of the branch. */
  prepare?(): Promise<unknown>;
  /** Makes the function take the branch, and resolves when its work is done. */
  provoke(): Promise<unknown>;
}

const inTenMinutes = () => new Date(Date.now() + 600_000).toISOString();

/** @param provoke makes the functions take them */
export const rareBranches = (provoke: Provocations): readonly Branch[] => [
  {
    branch: 'batch read misses new rows',
    fn: 'dispatch',
    fault: ['BatchGetItem', 'missed'],
    actions: ['GetItem Service', 'GetItem Outbox'],
    provoke: provoke.deliver,
  },
  {
    branch: 'batch read leaves keys unprocessed',
    fn: 'dispatch',
    fault: ['BatchGetItem', 'unprocessed'],
    actions: ['BatchGetItem Service', 'BatchGetItem Outbox'],
    provoke: provoke.deliver,
  },
  {
    branch: 'answer to a claim is lost',
    fn: 'dispatch',
    fault: ['UpdateItem', 'lost'],
    actions: ['UpdateItem Deliveries'],
    provoke: provoke.deliver,
  },
  {
    branch: 'settlement that changes the endpoint conflicts six times',
    fn: 'dispatch',
    fault: ['TransactWriteItems', 'conflict', CONTENDED.length],
    actions: ['GetItem Service', 'UpdateItem Deliveries', 'UpdateItem Service'],
    provoke: provoke.settleWithEndpoint,
  },
  {
    branch: 'fresh message moves to the slow queue',
    fn: 'dispatch',
    actions: ['SendMessage Slow'],
    provoke: () => provoke.move('Fresh', { pace: { is: 'slow', until: inTenMinutes() } }),
  },
  {
    branch: 'retry moves to the slow queue',
    fn: 'dispatch',
    actions: ['SendMessage Slow'],
    provoke: () => provoke.move('Retry', { pace: { is: 'slow', until: inTenMinutes() } }),
  },
  {
    branch: 'fresh message moves to the stalled queue, whose first answer ends the mark',
    fn: 'dispatch',
    actions: ['SendMessage Stalled', 'UpdateItem Service'],
    provoke: () => provoke.move('Fresh', { pace: { is: 'stalled', until: inTenMinutes() } }),
  },
  {
    branch: 'retry moves to the stalled queue',
    fn: 'dispatch',
    actions: ['SendMessage Stalled'],
    provoke: () => provoke.move('Retry', { pace: { is: 'stalled', until: inTenMinutes() } }),
  },
  {
    branch: 'query of endpoints is throttled three times',
    fn: 'fan-out',
    fault: ['Query', 'throttled', THROTTLED.length],
    actions: ['Query Service', 'PutItem Deliveries'],
    provoke: provoke.deliver,
  },
  {
    branch: 'write of a delivery conflicts',
    fn: 'fan-out',
    fault: ['PutItem', 'conflict'],
    actions: ['Query Service', 'PutItem Deliveries', 'SendMessage Fresh'],
    provoke: provoke.deliver,
  },
  {
    branch: 'read of statuses leaves keys unprocessed',
    fn: 'redeliver',
    fault: ['BatchGetItem', 'unprocessed'],
    actions: ['BatchGetItem Deliveries'],
    provoke: provoke.redeliver,
  },
  {
    branch: 'read of redelivery records leaves keys unprocessed',
    fn: 'redeliver',
    fault: ['BatchGetItem', 'unprocessed'],
    actions: [
      'BatchGetItem Service',
      'UpdateItem Service',
      'PutItem Deliveries',
      'UpdateItem Service',
      'SendMessage Slow',
    ],
    provoke: provoke.redeliver,
  },
  {
    branch: 'addition of a redelivery conflicts',
    fn: 'redeliver',
    fault: ['TransactWriteItems', 'conflict'],
    actions: ['PutItem Deliveries', 'UpdateItem Service', 'SendMessage Slow'],
    provoke: provoke.redeliver,
  },
  {
    branch: 'end of a job conflicts',
    fn: 'redeliver',
    fault: ['TransactWriteItems', 'conflict'],
    actions: ['UpdateItem Service', 'DeleteItem Service'],
    provoke: provoke.redeliver,
  },
  {
    branch: 'transaction conflicts six times',
    fn: 'meter',
    fault: ['TransactWriteItems', 'conflict', CONTENDED.length],
    actions: ['BatchGetItem Usage'],
    provoke: provoke.countUsage,
  },
  {
    branch: 'read of marks leaves keys unprocessed',
    fn: 'meter',
    fault: ['BatchGetItem', 'unprocessed'],
    actions: ['PutItem Usage', 'UpdateItem Usage'],
    provoke: provoke.countUsage,
  },
  {
    branch: 'read of last uses leaves keys unprocessed',
    fn: 'list-api-keys',
    fault: ['BatchGetItem', 'unprocessed'],
    actions: ['BatchGetItem Rates'],
    provoke: provoke.listKeys,
  },
  {
    branch: 'batch delete leaves rows unprocessed',
    fn: 'purge',
    fault: ['BatchWriteItem', 'unprocessed'],
    actions: ['BatchWriteItem Outbox'],
    provoke: provoke.purge,
  },
  {
    branch: 'transaction of a request conflicts',
    fn: 'create-message',
    fault: ['TransactWriteItems', 'conflict'],
    actions: ['PutItem Service', 'PutItem Outbox'],
    provoke: provoke.sendMessage,
  },
  {
    branch: 'answer to the transaction of a request is lost',
    fn: 'create-message',
    fault: ['TransactWriteItems', 'lost'],
    actions: ['PutItem Service', 'PutItem Outbox'],
    provoke: provoke.sendMessage,
  },
  {
    branch: 'settlement of a check conflicts',
    fn: 'check-source',
    fault: ['TransactWriteItems', 'conflict'],
    actions: ['UpdateItem Knowledge', 'PutItem Knowledge'],
    provoke: provoke.checkSource,
  },
  {
    branch: 'cursor of an unknown key version',
    fn: 'list-conversations',
    actions: ['GetSecretValue CursorKeys'],
    prepare: provoke.listWithKnownKey,
    provoke: provoke.listWithUnknownKey,
  },
];
