import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { deliveryMetrics } from '../../../functions/platform/delivery-metrics.ts';
import { publishMetrics } from '../../../functions/platform/metrics.ts';

let printed: string[];

beforeEach(() => {
  printed = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
});
afterEach(() => vi.restoreAllMocks());

it('tells of a batch of attempts in one document, whose latencies CloudWatch makes percentiles of', async () => {
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

  await publishMetrics();

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
              { Name: 'BacklogAge', Unit: 'Seconds' },
              { Name: 'CommitToFirstAttempt', Unit: 'Milliseconds' },
              { Name: 'CommitToReceipt', Unit: 'Milliseconds' },
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
