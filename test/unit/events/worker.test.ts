import middy from '@middy/core';
import { describe, expect, it } from 'vitest';
import { Defect, InvocationFailed, invocation } from '../../../functions/aws/logger.ts';
import { count, FAILED_INVOCATIONS } from '../../../functions/aws/metrics.ts';
import { outboxReader } from '../../../functions/delivery/outbox-readers.ts';
import { INVOCATION } from '../../support/functions.ts';
import { capturingLogger, printedMetrics } from '../aws/capturing-logger.ts';

const CANARY = 'canary 7f3a';
const printed = printedMetrics();

const metrics = () => printed.map((line) => JSON.parse(line));

function aWorker(work: () => Promise<string>) {
  const logger = capturingLogger();
  const handler = middy<unknown, string>().use(invocation(logger)).handler(work);
  return { run: () => handler({}, INVOCATION), lines: logger.lines };
}

describe('the invocation of a worker', () => {
  it('adds its id to its lines, and writes its metrics at the end', async () => {
    const { run } = aWorker(async () => {
      count('Things');
      expect(printed).toEqual([]);
      return 'done';
    });
    expect(await run()).toBe('done');
    expect(metrics()).toMatchObject([{ Things: 1 }]);
  });

  it('logs and counts an exception, and rethrows it without its message', async () => {
    const { run, lines } = aWorker(async () => JSON.parse(CANARY));
    const error: unknown = await run().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InvocationFailed);
    // Lambda's own log line of the exception.
    const { name, message, stack, cause } = error as Error;
    expect(JSON.stringify([name, message, stack, cause])).not.toContain(CANARY);
    expect(message).toBe('SyntaxError');
    expect(lines).toMatchObject([{ code: 'INVOCATION_FAILED', error: { name: 'SyntaxError' } }]);
    expect(JSON.stringify(lines)).not.toContain(CANARY);
    expect(metrics()).toMatchObject([{ [FAILED_INVOCATIONS]: 1 }]);
  });

  it('keeps the message of an error class of the service', async () => {
    const { run } = aWorker(async () => {
      throw new Defect('the queue is unknown');
    });
    await expect(run()).rejects.toThrow('the queue is unknown');
  });
});

describe('a reader of the stream of the outbox', () => {
  it('answers records that their queue refuses in their order, also when they failed in another', async () => {
    const Records = ['1', '2', '3'].map((SequenceNumber) => ({
      dynamodb: { SequenceNumber, NewImage: { pk: { S: SequenceNumber } } },
    }));
    const handler = outboxReader(
      { parse: (row) => ({ row }) },
      async (batch) => batch.slice(1).reverse(),
      async (failed) => failed.map((item) => ({ item, error: new Error('the queue is down') })),
    );

    expect(await handler({ Records }, INVOCATION)).toEqual({
      batchItemFailures: [{ itemIdentifier: '2' }, { itemIdentifier: '3' }],
    });
  });
});
