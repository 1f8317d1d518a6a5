import 'aws-sdk-client-mock-vitest/extend';
import {
  DynamoDBClient,
  ProvisionedThroughputExceededException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  buildDelete,
  type Change,
  Contended,
  committer,
  type Refusal,
} from '../../../functions/aws/transaction.ts';
import { mockedDynamoDb } from '../../support/mocked-dynamodb.ts';

const dynamo = mockedDynamoDb();

const CONFLICT = 'TransactionConflict';
const FAILED = 'ConditionalCheckFailed';
const TRIES = 6;

const cancelled = (...codes: string[]) =>
  new TransactionCanceledException({
    message: `Transaction cancelled [${codes.join(', ')}]`,
    $metadata: {},
    CancellationReasons: codes.map((Code) => ({ Code })),
  });

const aChange = (refusal: Refusal): Change =>
  buildDelete({ name: 'service' }, { pk: refusal, sk: 'x' }, { refusal });
const changes = [aChange('idempotency-key-used'), aChange('endpoint-limit'), aChange('exists')];

/** A committer that does not wait, and the waits that it requested. */
function aCommitter() {
  const waits: number[] = [];
  const commit = committer(new DynamoDBClient({}), async (attempt) => {
    waits.push(attempt);
  });
  return { commit, waits };
}

const requests = () => dynamo.commandCalls(TransactWriteCommand).map((call) => call.args[0].input);
const tokens = () => new Set(requests().map((request) => request.ClientRequestToken));

beforeEach(() => {
  dynamo.reset();
  dynamo.on(TransactWriteCommand).resolves({});
});

describe('transaction', () => {
  it('has a token of its own', async () => {
    const { commit } = aCommitter();
    await commit(changes);
    await commit(changes);
    expect(tokens().size).toBe(2);
    expect(tokens()).not.toContain(undefined);
  });

  it('is repeated after a conflict with the same token, after a wait', async () => {
    dynamo
      .on(TransactWriteCommand)
      .rejectsOnce(cancelled('None', CONFLICT, 'None'))
      .rejectsOnce(cancelled('ThrottlingError', 'None', 'None'))
      .rejectsOnce(cancelled('None', 'None', 'ProvisionedThroughputExceeded'))
      .resolves({});
    const { commit, waits } = aCommitter();
    expect(await commit(changes)).toEqual({ kind: 'committed' });
    expect(requests()).toHaveLength(4);
    expect(tokens().size).toBe(1);
    expect(waits).toEqual([1, 2, 3]);
  });

  it('fails when it has a conflict at each try', async () => {
    dynamo.on(TransactWriteCommand).rejects(cancelled(CONFLICT, 'None', 'None'));
    const { commit, waits } = aCommitter();
    await expect(commit(changes)).rejects.toThrow(Contended);
    expect(requests()).toHaveLength(TRIES);
    // There is no wait after the last try.
    expect(waits).toHaveLength(TRIES - 1);
  });

  it('is refused for the reason of the first change whose condition failed', async () => {
    const codes = fc.array(fc.constantFrom('None', FAILED), { minLength: 3, maxLength: 3 });
    let reasons: string[] = [];
    dynamo.on(TransactWriteCommand).callsFake(() => Promise.reject(cancelled(...reasons)));
    await fc.assert(
      fc.asyncProperty(codes, async (given) => {
        fc.pre(given.includes(FAILED));
        dynamo.resetHistory();
        reasons = given;
        const { commit, waits } = aCommitter();
        expect(await commit(changes)).toEqual({
          kind: 'refused',
          refusal: changes[given.indexOf(FAILED)]?.refusal,
        });
        expect(requests()).toHaveLength(1);
        expect(waits).toEqual([]);
      }),
    );
  });

  it.each([
    [CONFLICT, FAILED, 'None'],
    ['None', FAILED, CONFLICT],
  ])('is refused at once even next to a conflict: %s, %s, %s', async (...codes) => {
    dynamo.on(TransactWriteCommand).rejects(cancelled(...codes));
    expect(await aCommitter().commit(changes)).toEqual({ kind: 'refused', refusal: 'endpoint-limit' });
    expect(requests()).toHaveLength(1);
  });

  it('is refused when the condition fails at a later try', async () => {
    dynamo
      .on(TransactWriteCommand)
      .rejectsOnce(cancelled(CONFLICT, 'None', 'None'))
      .rejects(cancelled('None', 'None', FAILED));
    expect(await aCommitter().commit(changes)).toEqual({ kind: 'refused', refusal: 'exists' });
  });

  it.each([
    ['a cancellation for a reason that stays', cancelled('ValidationError', 'None', 'None')],
    [
      'a cancellation that names no reason',
      new TransactionCanceledException({ message: 'x', $metadata: {} }),
    ],
    ['a throttled table', new ProvisionedThroughputExceededException({ message: 'x', $metadata: {} })],
    ['a failure of the network', new Error('socket hang up')],
  ])('throws %s unchanged, without another try', async (_, error) => {
    dynamo.on(TransactWriteCommand).rejects(error);
    await expect(aCommitter().commit(changes)).rejects.toBe(error);
    expect(requests()).toHaveLength(1);
  });
});
