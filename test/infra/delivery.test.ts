import { Match } from 'aws-cdk-lib/assertions';
import { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import { CfnQueue } from 'aws-cdk-lib/aws-sqs';
import type { IConstruct } from 'constructs';
import { describe, expect, it } from 'vitest';
import { ABANDONED_ENTRIES, DEAD_LETTERS, LEDGER_DIFFERENCE } from '../../functions/aws/metrics.ts';
import { deriveAttemptClocks } from '../../functions/delivery/timing.ts';
import { HIGHEST_LIMITS, LOWEST_LIMITS } from './contexts.ts';
import { functionNamed, invokes, ofType, serviceIn, synthesize, uncheckedApp } from './synthesize.ts';

const template = synthesize();
const mappings = ofType(template, 'AWS::Lambda::EventSourceMapping').map(([, { Properties }]) => Properties);
const functionOf = (from: ReturnType<typeof synthesize>, name: string) =>
  ofType(from, 'AWS::Lambda::Function').find(
    ([, fn]) => Object(fn.Properties.Environment).Variables.FUNCTION_NAME === name,
  );
const sourcesOf = (name: string) => {
  const [id] = functionNamed(template, name);
  return mappings.filter(({ FunctionName }) => invokes(template, FunctionName, id));
};
const lanesOf = (from: ReturnType<typeof synthesize>) =>
  ofType(from, 'AWS::SQS::Queue').filter(
    ([id, { Properties }]) => /^Delivery(Fresh|Retry|Slow|Stalled)/.test(id) && Properties.RedrivePolicy,
  );

/** The resource of a construct, which can change until the synthesis. */
function resourceOf<T extends object>({ node }: IConstruct, type: new (...parameters: never[]) => T): T {
  if (node.defaultChild instanceof type) return node.defaultChild;
  throw new Error(`${node.path} is no ${type.name}`);
}

describe('the fan-out', () => {
  it('begins with the first record, reads inserts only, and sends failures to a dead-letter queue', () => {
    expect(sourcesOf('fan-out')).toEqual([
      expect.objectContaining({
        StartingPosition: 'TRIM_HORIZON',
        BisectBatchOnFunctionError: true,
        FilterCriteria: { Filters: [{ Pattern: JSON.stringify({ eventName: ['INSERT'] }) }] },
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        DestinationConfig: { OnFailure: { Destination: expect.anything() } },
      }),
    ]);
  });
});

describe('the delivery queues', () => {
  it('are four, each with a maximum concurrency of its own', () => {
    const sources = sourcesOf('dispatch');
    expect(lanesOf(template)).toHaveLength(4);
    expect(new Set(sources.map(({ EventSourceArn }) => JSON.stringify(EventSourceArn))).size).toBe(4);
    for (const source of sources)
      expect(source).toMatchObject({
        BatchSize: 10,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        ScalingConfig: { MaximumConcurrency: expect.any(Number) },
      });
  });

  it.each([
    ['prod', 30],
    ['staging', 30],
    ['dev', undefined],
  ])('have a batching window in stage %s on the stalled queue, and on no other', (stage, seconds) => {
    const from = synthesize({ stage });
    const [id] = functionNamed(from, 'dispatch');
    const windows = ofType(from, 'AWS::Lambda::EventSourceMapping')
      .filter(([, { Properties }]) => invokes(from, Properties.FunctionName, id))
      .map(([, { Properties }]) => [
        /Stalled/.test(JSON.stringify(Properties.EventSourceArn)),
        Properties.MaximumBatchingWindowInSeconds,
      ]);
    expect(windows.toSorted()).toEqual([
      [false, undefined],
      [false, undefined],
      [false, undefined],
      [true, seconds],
    ]);
  });

  it('have a dead-letter queue that a function drains', () => {
    const targets = lanesOf(template).map(
      ([, { Properties }]) => Object(Properties.RedrivePolicy).deadLetterTargetArn,
    );
    expect(new Set(targets.map((target) => JSON.stringify(target))).size).toBe(1);
    expect(sourcesOf('dead-delivery-messages').map(({ EventSourceArn }) => EventSourceArn)).toEqual([
      targets[0],
    ]);
  });
});

describe('the times of an attempt', () => {
  it.each<[number, Record<string, unknown>]>([
    [0.5, LOWEST_LIMITS],
    [10, {}],
    [60, HIGHEST_LIMITS],
  ])('each outlast the one before, with a deadline of %d s', (attemptTimeoutSeconds, context) => {
    const timed = synthesize(context);
    const [, dispatcher] = functionOf(timed, 'dispatch') ?? [];
    const timeout = Number(dispatcher?.Properties.Timeout);
    expect(timeout).toBeGreaterThan(attemptTimeoutSeconds);
    expect(Object(dispatcher?.Properties.Environment).Variables.ATTEMPT_TIMEOUT_SECONDS).toBe(
      String(attemptTimeoutSeconds),
    );
    const { visibility } = deriveAttemptClocks(attemptTimeoutSeconds);
    // A message of a batching window counts as received.
    for (const [id, { Properties }] of lanesOf(timed))
      expect(Properties.VisibilityTimeout, id).toBe(/Stalled/.test(id) ? visibility + 30 : visibility);
  });

  it('stop the synthesis when a message would reappear before its lease ends', () => {
    const app = uncheckedApp();
    const { data } = serviceIn(app);
    resourceOf(data.deliveryQueues.lanes.retry, CfnQueue).visibilityTimeout = 20;
    expect(() => app.synth()).toThrow('the lease (25 s) must be shorter than the visibility timeout (20 s)');
  });

  it('stop the synthesis when a batching window would outlast the lease', () => {
    const app = uncheckedApp();
    const { data } = serviceIn(app);
    resourceOf(data.deliveryQueues.lanes.stalled, CfnQueue).visibilityTimeout = 55;
    expect(() => app.synth()).toThrow('the lease (25 s) must be shorter than the visibility timeout (25 s)');
  });

  it("stop the synthesis when the function's timeout would outlast the lease", () => {
    const app = uncheckedApp();
    const { workers } = serviceIn(app);
    resourceOf(workers.delivery.dispatch, CfnFunction).timeout = 60;
    expect(() => app.synth()).toThrow('the function timeout (60 s) must be shorter than the lease (25 s)');
  });
});

describe('recovery', () => {
  it('reconciles every minute, and checks the ledger every hour', () => {
    for (const [name, rate] of [
      ['reconcile', 'rate(1 minute)'],
      ['audit-ledger', 'rate(1 hour)'],
    ]) {
      const [id] = functionOf(template, name ?? '') ?? [];
      template.hasResourceProperties('AWS::Events::Rule', {
        ScheduleExpression: rate,
        State: 'ENABLED',
        Targets: [Match.objectLike({ Arn: { 'Fn::GetAtt': [id, 'Arn'] } })],
      });
    }
  });

  it('follows new and ended deliveries, and has the id of its shard', () => {
    expect(sourcesOf('delivery-stream')).toEqual([
      expect.objectContaining({
        StartingPosition: 'TRIM_HORIZON',
        TumblingWindowInSeconds: 900,
        MaximumBatchingWindowInSeconds: 10,
        FilterCriteria: {
          Filters: [
            { Pattern: JSON.stringify({ eventName: ['INSERT'] }) },
            {
              Pattern: JSON.stringify({
                eventName: ['MODIFY'],
                dynamodb: { NewImage: { status: { S: ['succeeded', 'exhausted', 'skipped'] } } },
              }),
            },
          ],
        },
      }),
    ]);
    // Without a limit of tries: records that it does not read are neither counted nor observed.
    expect(sourcesOf('delivery-stream')[0]).not.toHaveProperty('MaximumRetryAttempts');
  });

  it('finds due deliveries in an index that has all fields of a delivery message', () => {
    template.hasResourceProperties('AWS::DynamoDB::Table', {
      GlobalSecondaryIndexes: Match.arrayWith([
        Match.objectLike({
          IndexName: 'due',
          KeySchema: [
            { AttributeName: 'dueIn', KeyType: 'HASH' },
            { AttributeName: 'dueKey', KeyType: 'RANGE' },
          ],
          Projection: {
            ProjectionType: 'INCLUDE',
            NonKeyAttributes: ['orgId', 'generation', 'webhookId', 'eventId', 'isDeferred'],
          },
        }),
      ]),
    });
  });

  it.each([
    ['fan-out', 60_000],
    ['delivery-stream', 600_000],
  ])('has an alarm long before the stream of %s drops records', (name, Threshold) => {
    const [id] = functionOf(template, name) ?? [];
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'AWS/Lambda',
      MetricName: 'IteratorAge',
      Dimensions: [{ Name: 'FunctionName', Value: { Ref: id } }],
      Statistic: 'Maximum',
      Threshold,
    });
  });

  it.each([
    LEDGER_DIFFERENCE,
    DEAD_LETTERS,
    ABANDONED_ENTRIES,
    'DeliveriesExpired',
    'UnreadableMessages',
    'ParkedLatestSeconds',
  ])('has an alarm for %s', (MetricName) => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'ConversationService/prod',
      MetricName,
      AlarmDescription: Match.stringLikeRegexp('.{20,}'),
      TreatMissingData: 'notBreaching',
    });
  });
});
