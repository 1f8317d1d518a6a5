import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { type BusWorkerName, LEFT_IN_QUEUE, METRICS } from '../../functions/aws/metrics.ts';
import { BUS_SOURCE, NOTICES } from '../../functions/events/bus.ts';
import { EVENT_CATALOGUE } from '../../functions/events/events.ts';
import { METERED_TYPES } from '../../functions/events/usage.ts';
import { MAIL_BUDGETS } from '../../functions/notices/mail.ts';
import { EVERYTHING, STAGES } from './contexts.ts';
import {
  all,
  type Found,
  isWatched,
  nameOf,
  references,
  resourcesOf,
  statementsIn,
  watchedBy,
} from './reading.ts';
import { invokes, ofType, synthesize } from './synthesize.ts';

/* Rules for all queues and event sources in every stage, so that a new one is checked as well. */

describe.each(STAGES)('in stage %s', (stage) => {
  const template: Template = synthesize({ stage, ...EVERYTHING });
  const resources = resourcesOf(template);
  const property = (id: string, name: string): unknown => resources.get(id)?.Properties[name];

  describe('every queue', () => {
    const queues = all(template, 'AWS::SQS::Queue');
    const redrives = new Map(
      queues.flatMap(([id, { Properties }]) =>
        references(Object(Properties.RedrivePolicy).deadLetterTargetArn).map((to) => [id, to] as const),
      ),
    );
    /** All destinations of failed messages. */
    const deadLetters = new Set([
      ...redrives.values(),
      ...ofType(template, 'AWS::Lambda::EventSourceMapping').flatMap(([, { Properties }]) =>
        references(Properties.DestinationConfig),
      ),
      ...ofType(template, 'AWS::Events::EventBus').flatMap(([, { Properties }]) =>
        references(Properties.DeadLetterConfig),
      ),
    ]);
    const readers = (queue: string) =>
      ofType(template, 'AWS::Lambda::EventSourceMapping').filter(([, { Properties }]) =>
        references(Properties.EventSourceArn).includes(queue),
      );
    const functionsOf = ([, mapping]: Found): Found[] =>
      ofType(template, 'AWS::Lambda::Function').filter(([id]) =>
        invokes(template, mapping.Properties.FunctionName, id),
      );

    it.each(queues)('%s has a dead-letter queue, or is one', (id) => {
      expect(redrives.has(id) !== deadLetters.has(id)).toBe(true);
    });

    it.each(queues)('%s keeps messages for two weeks, encrypted, and accepts them by TLS alone', (id) => {
      expect(property(id, 'MessageRetentionPeriod')).toBe(14 * 86_400);
      // With the service's key, except the queue for events whose key the bus cannot use.
      if (/^BusUnreadable/.test(id)) expect(property(id, 'SqsManagedSseEnabled')).toBe(true);
      else expect(references(property(id, 'KmsMasterKeyId'))).toEqual([expect.stringMatching(/^Key/)]);
      const said = ofType(template, 'AWS::SQS::QueuePolicy')
        .filter(([, { Properties }]) => references(Properties.Queues).includes(id))
        .flatMap(([, { Properties }]) => statementsIn(Properties.PolicyDocument));
      expect(said).toContainEqual(
        expect.objectContaining({
          effect: 'Deny',
          actions: ['sqs:*'],
          condition: { Bool: { 'aws:SecureTransport': 'false' } },
        }),
      );
      // The policy names the source of any external sender.
      for (const { effect, condition } of said)
        if (effect === 'Allow') expect(Object.keys(condition)).not.toEqual([]);
    });

    it.each(queues)(
      '%s hides a message for longer than its reader may run, and supports partial batch failures',
      (id) => {
        for (const reader of readers(id)) {
          const [fn, ...others] = functionsOf(reader);
          expect(others).toEqual([]);
          expect(Number(property(id, 'VisibilityTimeout'))).toBeGreaterThan(
            Number(fn?.[1].Properties.Timeout),
          );
          expect(reader[1].Properties).toMatchObject({
            FunctionResponseTypes: ['ReportBatchItemFailures'],
            ScalingConfig: { MaximumConcurrency: expect.any(Number) },
          });
        }
      },
    );

    it.each(queues)('%s has a reader if it is for work, and an alarm if it is for dead letters', (id) => {
      const reading = readers(id).flatMap(functionsOf);
      if (!deadLetters.has(id)) expect(reading).toHaveLength(1);
      else if (reading.length > 0)
        for (const [fn] of reading) expect(isWatched(template, 'Errors', fn)).toBe(true);
      else expect(isWatched(template, 'ApproximateNumberOfMessagesVisible', id)).toBe(true);
    });
  });

  describe('every event source', () => {
    const mappings = all(template, 'AWS::Lambda::EventSourceMapping');
    const isStream = ([, { Properties }]: Found) => 'StartingPosition' in Properties;

    it("sends a stream's failures to a queue or retries without limit, with an alarm on its delay", () => {
      // Without a limit of tries: records that it does not read are neither counted nor observed.
      const neverGivesUp = ['delivery-stream'];
      for (const mapping of mappings.filter(isStream)) {
        const [id, { Properties }] = mapping;
        const [[fnId, fn] = []] = all(template, 'AWS::Lambda::Function').filter(([id]) =>
          invokes(template, Properties.FunctionName, id),
        );
        if (fnId === undefined || fn === undefined) throw new Error(`${id} invokes nothing`);
        if (neverGivesUp.includes(nameOf(fn))) {
          expect(Properties).not.toHaveProperty('MaximumRetryAttempts');
          expect(Properties).not.toHaveProperty('MaximumRecordAgeInSeconds');
        } else
          expect(references(Properties.DestinationConfig).map((to) => resources.get(to)?.Type)).toEqual([
            'AWS::SQS::Queue',
          ]);
        expect(isWatched(template, 'IteratorAge', fnId), fnId).toBe(true);
      }
    });

    it('of the delivery engine invokes the alias that CodeDeploy moves', () => {
      const invoked = mappings
        .map(([, { Properties }]) => JSON.stringify(Properties.FunctionName))
        .filter((name) => name.includes(':live'));
      // Three delivery queues and the outbox.
      expect(invoked).toHaveLength(4);
    });
  });

  describe('every rule', () => {
    const rules = all(template, 'AWS::Events::Rule');

    it('sends failures to a dead-letter queue, and a schedule has an alarm for missed runs', () => {
      for (const [id, { Properties }] of rules) {
        const targets = Properties.Targets as { Arn: unknown; DeadLetterConfig?: unknown }[];
        for (const { Arn, DeadLetterConfig } of targets) {
          const [target = ''] = references(Arn);
          if ('ScheduleExpression' in Properties)
            expect(isWatched(template, 'Invocations', target), id).toBe(true);
          else
            expect(
              references(DeadLetterConfig).map((queue) => resources.get(queue)?.Type),
              id,
            ).toEqual(['AWS::SQS::Queue']);
        }
      }
    });

    it('sends events to a queue in the message group of their organization', () => {
      const groups = rules
        .filter(([, { Properties }]) => 'EventPattern' in Properties)
        .flatMap(([, { Properties }]) => Properties.Targets as { SqsParameters?: unknown }[])
        .map(({ SqsParameters }) => SqsParameters);
      expect(groups.length).toBeGreaterThan(0);
      for (const group of groups) expect(group).toEqual({ MessageGroupId: '$.detail.orgId' });
    });
  });
});

describe('the workers behind the event bus', () => {
  const template = synthesize();
  const rules = ofType(template, 'AWS::Events::Rule').filter(
    ([, { Properties }]) => 'EventPattern' in Properties,
  );
  const typesOf = ({ Properties }: Found[1]): string[] => Object(Properties.EventPattern)['detail-type'];
  const readersOf = (source: string) =>
    ofType(template, 'AWS::Lambda::EventSourceMapping').filter(([, { Properties }]) =>
      references(Properties.EventSourceArn).includes(source),
    );

  it.each(rules)("%s matches exactly types of events that exist, on the service's bus", (_, rule) => {
    expect(Object(rule.Properties.EventPattern).source).toEqual([BUS_SOURCE]);
    expect(typesOf(rule)).not.toEqual([]);
    for (const type of typesOf(rule)) expect({ ...EVENT_CATALOGUE, ...NOTICES }).toHaveProperty([type]);
    expect(references(rule.Properties.EventBusName)).toEqual([expect.stringMatching(/^BusEvents/)]);
  });

  it.each(rules)("%s has a queue that hides a message for six times its function's timeout", (_, rule) => {
    const [queueId = ''] = references(Object(rule.Properties.Targets)[0].Arn);
    const [, queue] = all(template, 'AWS::SQS::Queue').find(([id]) => id === queueId) ?? [];
    const [mapping] = readersOf(queueId);
    const [id = '', fn] =
      all(template, 'AWS::Lambda::Function').find(([id]) =>
        invokes(template, mapping?.[1].Properties.FunctionName, id),
      ) ?? [];
    expect(queue?.Properties.VisibilityTimeout).toBe(6 * Number(fn?.Properties.Timeout));
    expect(Object(queue?.Properties.RedrivePolicy)).toEqual({
      deadLetterTargetArn: Object(rule.Properties.Targets)[0].DeadLetterConfig.Arn,
      maxReceiveCount: 20,
    });
    // As SQS needs.
    const { BatchSize, MaximumBatchingWindowInSeconds } = Object(mapping?.[1].Properties);
    if (BatchSize > 10) expect(MaximumBatchingWindowInSeconds).toBeGreaterThan(0);
    // Lambda does not count messages that are left in the queue.
    const alarms = ofType(template, 'AWS::CloudWatch::Alarm').filter(([, alarm]) =>
      watchedBy(alarm).some(({ metric, of }) => metric === 'Errors' && references(of).includes(id)),
    );
    const left = fn && LEFT_IN_QUEUE[nameOf(fn) as BusWorkerName];
    expect(alarms.map(([, alarm]) => watchedBy(alarm))).toMatchObject([
      [{ metric: 'Errors' }, { metric: left, of: { service: METRICS.serviceName } }],
    ]);
    expect(alarms[0]?.[1].Properties).toMatchObject({ Threshold: 3, EvaluationPeriods: 1 });
  });

  it('are sent exactly the metered event types, and each kind of e-mail that has a budget', () => {
    const typesFor = (target: string) =>
      rules.filter(([, rule]) => JSON.stringify(rule).includes(target)).flatMap(([, rule]) => typesOf(rule));
    expect(typesFor('BusMeter')).toEqual(METERED_TYPES);
    const kinds = Object.entries(MAIL_BUDGETS).flatMap(([kind, budget]) => (budget ? [kind] : []));
    expect(typesFor('BusNotify').toSorted()).toEqual(kinds.toSorted());
  });

  it('leave the stream of the outbox two readers, which is all that it supports', () => {
    const [[outbox = ''] = []] = all(template, 'AWS::DynamoDB::GlobalTable').filter(([id]) =>
      id.startsWith('TablesOutbox'),
    );
    expect(readersOf(outbox)).toHaveLength(2);
  });
});
