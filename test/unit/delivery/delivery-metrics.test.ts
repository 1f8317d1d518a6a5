import { expect, it } from 'vitest';
import { deliveryMetrics, publishMetrics } from '../../../functions/aws/metrics.ts';
import { printedMetrics } from '../aws/capturing-logger.ts';

const printed = printedMetrics();

it('writes a batch of attempts as one document, from whose latencies CloudWatch computes percentiles', async () => {
  const { attempt, disabled } = deliveryMetrics;
  attempt({
    outcome: 'succeeded',
    parked: false,
    lateMs: 400,
    sinceCommitMs: { first: true, begun: 400, ended: 450 },
  });
  attempt({
    outcome: 'succeeded',
    parked: false,
    lateMs: 1500,
    sinceCommitMs: { first: false, begun: 31_000, ended: 31_020 },
  });
  attempt({
    outcome: 'retrying',
    parked: true,
    lateMs: 200,
    sinceCommitMs: { first: true, begun: 200, ended: 900 },
  });
  attempt({ outcome: 'exhausted', parked: false, lateMs: 0 });
  disabled();

  publishMetrics();

  expect(printed.map((line) => JSON.parse(line))).toEqual([
    {
      _aws: {
        Timestamp: expect.any(Number),
        CloudWatchMetrics: [
          {
            Namespace: 'ConversationService',
            Dimensions: [['service']],
            Metrics: [
              { Name: 'Attempts', Unit: 'Count' },
              { Name: 'CommitToFirstAttempt', Unit: 'Milliseconds' },
              { Name: 'CommitToReceipt', Unit: 'Milliseconds' },
              { Name: 'BacklogAge', Unit: 'Seconds' },
              { Name: 'AttemptsFailed', Unit: 'Count' },
              { Name: 'DeliveriesParked', Unit: 'Count' },
              { Name: 'EndpointsDisabled', Unit: 'Count' },
            ],
          },
        ],
      },
      service: 'api',
      Attempts: 4,
      AttemptsFailed: 2,
      BacklogAge: 1.5,
      CommitToFirstAttempt: [400, 200],
      CommitToReceipt: [450, 31_020],
      DeliveriesParked: 1,
      EndpointsDisabled: 1,
    },
  ]);
});

const ACCEPTED = { outcome: 'succeeded', parked: false, lateMs: 20 };

async function printedOf(attempt: Parameters<typeof deliveryMetrics.attempt>[0]): Promise<string[]> {
  deliveryMetrics.attempt(attempt);
  publishMetrics();
  return printed;
}

it.each([
  ['accepted', {}],
  ['refused', { outcome: 'retrying' }],
  ['the last of its delivery', { outcome: 'exhausted' }],
  ['late by the batching window', { lateMs: 29_999 }],
])('buffers the metrics of an attempt that is %s', async (_what, changes) => {
  expect(await printedOf({ ...ACCEPTED, ...changes })).toEqual([]);
});

it('writes at once an attempt that is later than that, and a disabled endpoint', async () => {
  expect(await printedOf({ ...ACCEPTED, lateMs: 30_000 })).toHaveLength(1);

  printed.length = 0;
  deliveryMetrics.disabled();
  publishMetrics();
  expect(printed).toHaveLength(1);
});

it.each([
  [999, undefined],
  [1000, 1],
])('reports an attempt that began %d ms late as a backlog of %s s', async (lateMs, seconds) => {
  deliveryMetrics.disabled();
  deliveryMetrics.attempt({ ...ACCEPTED, lateMs });
  publishMetrics();

  expect(JSON.parse(printed.at(-1) ?? '').BacklogAge).toBe(seconds);
});
