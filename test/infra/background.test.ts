import { Stack } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { describe, expect, it } from 'vitest';
import { type BusWorkerName, LEFT_IN_QUEUE, METRICS } from '../../functions/aws/metrics.ts';
import { BUS_SOURCE, NOTICES } from '../../functions/events/bus.ts';
import { EVENT_CATALOGUE } from '../../functions/events/events.ts';
import { METERED_TYPES } from '../../functions/events/usage.ts';
import { BusWorker } from '../../lib/infra/bus-worker.ts';
import { references, watchedBy } from './reading.ts';
import {
  functionNamed,
  invokes,
  joined,
  ofType,
  type SynthesizedResource,
  serviceIn,
  statementsOf,
  tableGrants,
  uncheckedApp,
} from './synthesize.ts';

const app = uncheckedApp();
const service = serviceIn(app);
const template = joined(app);
const resources = template.toJSON().Resources as Record<string, SynthesizedResource>;
const workers = service.workers.node.findAll().filter((construct) => construct instanceof BusWorker);

/** The logical id of a resource. */
const idOf = (construct: IConstruct): string => String(Stack.of(construct).resolve(logicalId(construct)));
function logicalId({ node }: IConstruct): unknown {
  return Object(node.defaultChild).logicalId;
}
const propertiesOf = (construct: IConstruct): Record<string, unknown> =>
  resources[idOf(construct)]?.Properties ?? {};
const arnOf = (construct: IConstruct) => ({ 'Fn::GetAtt': [idOf(construct), 'Arn'] });
const bus = { Ref: idOf(service.data.bus.events) };

const mappingsOf = (functionId: string) =>
  ofType(template, 'AWS::Lambda::EventSourceMapping')
    .map(([, { Properties }]) => Properties)
    .filter(({ FunctionName }) => invokes(template, FunctionName, functionId));
const alarmsOn = (metric: string, dimension: { Name: string; Value: unknown }) =>
  ofType(template, 'AWS::CloudWatch::Alarm')
    .map(([, { Properties }]) => Properties)
    .filter(
      ({ MetricName, Dimensions }) =>
        MetricName === metric && JSON.stringify(Dimensions) === JSON.stringify([dimension]),
    );
/** The statements of a queue's policy. */
const policyOf = (queue: IConstruct): Record<string, unknown>[] =>
  ofType(template, 'AWS::SQS::QueuePolicy')
    .filter(
      ([, { Properties }]) => JSON.stringify(Properties.Queues) === JSON.stringify([{ Ref: idOf(queue) }]),
    )
    .flatMap(([, { Properties }]) => Object(Properties.PolicyDocument).Statement);

describe('the publisher', () => {
  const [id, fn] = functionNamed(template, 'publish');

  it("reads the outbox's stream from the first record, in order, and sends batches that fail as a whole to a dead-letter queue after some tries", () => {
    expect(mappingsOf(id)).toEqual([
      expect.objectContaining({
        EventSourceArn: { 'Fn::GetAtt': [expect.stringContaining('TablesOutbox'), 'StreamArn'] },
        StartingPosition: 'TRIM_HORIZON',
        FilterCriteria: { Filters: [{ Pattern: JSON.stringify({ eventName: ['INSERT'] }) }] },
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        BisectBatchOnFunctionError: true,
        MaximumRetryAttempts: 20,
        DestinationConfig: { OnFailure: { Destination: arnOf(service.data.bus.deadPublications) } },
      }),
    ]);
  });

  it('is the second reader of the outbox’s stream, which supports only two', () => {
    const readers = ofType(template, 'AWS::Lambda::EventSourceMapping').filter(([, { Properties }]) =>
      JSON.stringify(Properties.EventSourceArn).includes('TablesOutbox'),
    );
    expect(readers).toHaveLength(2);
  });

  it('may put events on the bus, read the stream, and nothing else', () => {
    const statements = statementsOf(template, fn);
    expect(statements.filter(({ Action }) => Action === 'events:PutEvents')).toEqual([
      expect.objectContaining({ Resource: arnOf(service.data.bus.events) }),
    ]);
    expect(tableGrants(template, fn)).toEqual([
      'dynamodb:DescribeStream Outbox',
      'dynamodb:GetRecords Outbox',
      'dynamodb:GetShardIterator Outbox',
    ]);
  });

  it('has an alarm long before the stream drops records', () => {
    expect(alarmsOn('IteratorAge', { Name: 'FunctionName', Value: { Ref: id } })).toEqual([
      expect.objectContaining({ Threshold: 600_000, Statistic: 'Maximum', Namespace: 'AWS/Lambda' }),
    ]);
  });

  it('leaves its dead letters to a function that reads them again, from the stream and from the outbox', () => {
    const [reader, readerFn] = functionNamed(template, 'dead-publications');
    expect(mappingsOf(reader)).toEqual([
      expect.objectContaining({
        EventSourceArn: arnOf(service.data.bus.deadPublications),
        BatchSize: 10,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
      }),
    ]);
    const statements = statementsOf(template, readerFn);
    expect(statements).toContainEqual(
      expect.objectContaining({ Action: 'events:PutEvents', Resource: arnOf(service.data.bus.events) }),
    );
    // After a failure it tries again later.
    expect(statements).toContainEqual(
      expect.objectContaining({
        Action: ['sqs:ChangeMessageVisibility', 'sqs:SendMessage'],
        Resource: arnOf(service.data.bus.deadPublications),
      }),
    );
    expect(tableGrants(template, readerFn)).toEqual([
      'dynamodb:GetItem Outbox',
      'dynamodb:GetRecords Outbox',
      'dynamodb:GetShardIterator Outbox',
    ]);
    expect(Number(propertiesOf(service.data.bus.deadPublications).VisibilityTimeout)).toBeGreaterThan(
      Number(readerFn.Properties.Timeout),
    );
  });

  it('may put events on the bus, as may the function for its dead letters, and no other', () => {
    const putters = ofType(template, 'AWS::Lambda::Function').filter(([, fn]) =>
      statementsOf(template, fn).some(({ Action }) => [Action].flat().includes('events:PutEvents')),
    );
    expect(putters.map(([logical]) => logical).sort()).toEqual(
      [id, functionNamed(template, 'dead-publications')[0]].sort(),
    );
  });
});

describe('the workers behind the event bus', () => {
  it('exist', () => {
    expect(workers.length).toBeGreaterThan(0);
  });

  describe.each(workers.map((worker) => [worker.node.path.split('/').at(-1) ?? '', worker] as const))(
    '%s',
    (_, worker) => {
      const rules = ofType(template, 'AWS::Events::Rule')
        .map(([, { Properties }]) => Properties)
        .filter(({ Targets }) => JSON.stringify(Targets).includes(JSON.stringify(arnOf(worker.queue))));

      it("has a rule that matches exactly its event types, on the service's bus", () => {
        const [rule] = rules;
        expect(rules).toHaveLength(1);
        expect(rule?.EventBusName).toEqual(bus);
        const { source, 'detail-type': types } = Object(rule?.EventPattern);
        expect(source).toEqual([BUS_SOURCE]);
        expect(types).not.toEqual([]);
        for (const type of types) expect({ ...EVENT_CATALOGUE, ...NOTICES }).toHaveProperty([type]);
      });

      it('has an alarm for its failures, including messages left in its queue, which Lambda does not count', () => {
        const [, fails] =
          ofType(template, 'AWS::CloudWatch::Alarm').find(([, alarm]) =>
            watchedBy(alarm).some(
              ({ metric, of }) => metric === 'Errors' && references(of).includes(idOf(worker.fn)),
            ),
          ) ?? expect.fail('nothing watches its errors');
        expect(watchedBy(fails)).toMatchObject([
          { metric: 'Errors' },
          { metric: LEFT_IN_QUEUE[worker.fn.serves as BusWorkerName], of: { service: METRICS.serviceName } },
        ]);
        expect(fails.Properties).toMatchObject({ Threshold: 3, EvaluationPeriods: 1 });
      });

      it('has one dead-letter queue, for its queue and its rule', () => {
        expect(Object(propertiesOf(worker.queue).RedrivePolicy)).toEqual({
          deadLetterTargetArn: arnOf(worker.deadLetters),
          maxReceiveCount: 20,
        });
        expect(rules[0]?.Targets).toEqual([
          expect.objectContaining({
            Arn: arnOf(worker.queue),
            DeadLetterConfig: { Arn: arnOf(worker.deadLetters) },
          }),
        ]);
      });

      it("keeps messages for SQS's maximum, encrypted, and accepts them by TLS alone", () => {
        for (const queue of [worker.queue, worker.deadLetters]) {
          expect(propertiesOf(queue).MessageRetentionPeriod).toBe(14 * 86_400);
          expect(JSON.stringify(propertiesOf(queue).KmsMasterKeyId)).toContain('KeysMessages');
          expect(policyOf(queue)).toContainEqual(
            expect.objectContaining({
              Effect: 'Deny',
              Action: 'sqs:*',
              Condition: { Bool: { 'aws:SecureTransport': 'false' } },
            }),
          );
        }
      });

      it("lets EventBridge send to both queues, for rules of the service's bus only", () => {
        for (const queue of [worker.queue, worker.deadLetters]) {
          const allowed = policyOf(queue).filter(({ Effect }) => Effect === 'Allow');
          expect(allowed).toEqual([
            expect.objectContaining({
              Principal: { Service: 'events.amazonaws.com' },
              Action: 'sqs:SendMessage',
              Condition: {
                ArnLike: { 'aws:SourceArn': expect.anything() },
                StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } },
              },
            }),
          ]);
          const rules = JSON.stringify(Object(allowed[0]?.Condition).ArnLike['aws:SourceArn']);
          expect(rules).toContain(`:rule/",${JSON.stringify(bus)},"/*"`);
        }
      });

      it("hides a message for six times its function's timeout", () => {
        expect(propertiesOf(worker.queue).VisibilityTimeout).toBe(
          6 * Number(propertiesOf(worker.fn).Timeout),
        );
      });

      it('reads its queue in batches that may fail in part, with a limited concurrency', () => {
        const mappings = mappingsOf(idOf(worker.fn));
        expect(mappings).toContainEqual(
          expect.objectContaining({
            EventSourceArn: arnOf(worker.queue),
            FunctionResponseTypes: ['ReportBatchItemFailures'],
            ScalingConfig: { MaximumConcurrency: expect.any(Number) },
          }),
        );
        // SQS needs a batching window for batches of more than ten.
        for (const { BatchSize, MaximumBatchingWindowInSeconds } of mappings)
          if (Number(BatchSize) > 10) expect(MaximumBatchingWindowInSeconds).toBeGreaterThan(0);
      });

      it('has an alarm for dead letters, with their consequence', () => {
        const dimension = {
          Name: 'QueueName',
          Value: { 'Fn::GetAtt': [idOf(worker.deadLetters), 'QueueName'] },
        };
        expect(alarmsOn('ApproximateNumberOfMessagesVisible', dimension)).toEqual([
          expect.objectContaining({
            Threshold: 1,
            Statistic: 'Maximum',
            TreatMissingData: 'notBreaching',
            AlarmDescription: expect.stringMatching(/.{20,}/),
          }),
        ]);
      });
    },
  );
});

describe('metering', () => {
  const [id, fn] = functionNamed(template, 'meter');

  it('receives exactly the metered event types', () => {
    const rule = ofType(template, 'AWS::Events::Rule').find(([name]) => name.startsWith('Metering'));
    expect(rule?.[1].Properties.EventPattern).toEqual({ source: [BUS_SOURCE], 'detail-type': METERED_TYPES });
  });

  it('receives up to 50 events at once, which one transaction can count', () => {
    expect(mappingsOf(id)).toMatchObject([
      { BatchSize: 50, MaximumBatchingWindowInSeconds: 5, ScalingConfig: { MaximumConcurrency: 5 } },
    ]);
  });

  it("may read an organization's state, and write its usage", () => {
    expect(tableGrants(template, fn)).toEqual([
      'dynamodb:BatchGetItem Usage',
      'dynamodb:GetItem Service',
      'dynamodb:PutItem Usage',
      'dynamodb:UpdateItem Usage',
    ]);
  });

  it('is the only writer of billed usage, which one route alone reads', () => {
    const grants = ofType(template, 'AWS::Lambda::Function').flatMap(([name, fn]) =>
      tableGrants(template, fn)
        .filter((grant) => grant.endsWith(' Usage'))
        .map((grant) => ({ name, grant })),
    );
    expect(new Set(grants.map(({ name }) => name))).toEqual(
      new Set([id, functionNamed(template, 'read-usage')[0]]),
    );
    expect(tableGrants(template, functionNamed(template, 'read-usage')[1])).toContain('dynamodb:Query Usage');
  });
});
