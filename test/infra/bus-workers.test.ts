import { Stack } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { describe, expect, it } from 'vitest';
import { type BusWorkerName, LEFT_IN_QUEUE, METRICS } from '../../functions/aws/metrics.ts';
import { BUS_SOURCE, NOTICES } from '../../functions/events/bus.ts';
import { EVENT_CATALOGUE } from '../../functions/events/events.ts';
import { METERED_TYPES } from '../../functions/events/usage.ts';
import { MAIL_BUDGETS } from '../../functions/notices/mail.ts';
import { BusWorker } from '../../lib/infra/bus-worker.ts';
import { references, watchedBy } from './reading.ts';
import { invokes, joined, ofType, type SynthesizedResource, serviceIn, uncheckedApp } from './synthesize.ts';

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
        expect(rules[0]?.Targets).toMatchObject([{ DeadLetterConfig: { Arn: arnOf(worker.deadLetters) } }]);
      });

      it("hides a message for six times its function's timeout", () => {
        expect(propertiesOf(worker.queue).VisibilityTimeout).toBe(
          6 * Number(propertiesOf(worker.fn).Timeout),
        );
      });

      it('has a batching window for batches of more than ten, as SQS needs', () => {
        for (const { BatchSize, MaximumBatchingWindowInSeconds } of mappingsOf(idOf(worker.fn)))
          if (Number(BatchSize) > 10) expect(MaximumBatchingWindowInSeconds).toBeGreaterThan(0);
      });
    },
  );
});

describe('a rule of the bus', () => {
  const typesOf = (target: string) =>
    ofType(template, 'AWS::Events::Rule')
      .filter(([, { Properties }]) => JSON.stringify(Properties.Targets ?? []).includes(target))
      .flatMap(([, { Properties }]) => Object(Properties.EventPattern)['detail-type']);

  it('sends the meter exactly the metered event types', () => {
    expect(typesOf('BusMeter')).toEqual(METERED_TYPES);
  });

  it('sends the mailer each kind of e-mail that has a budget, and nothing else', () => {
    const kinds = Object.entries(MAIL_BUDGETS).flatMap(([kind, budget]) => (budget ? [kind] : []));
    expect(typesOf('BusNotify').toSorted()).toEqual(kinds.toSorted());
  });
});

it('the stream of the outbox has two readers, which is all that it supports', () => {
  const readers = ofType(template, 'AWS::Lambda::EventSourceMapping').filter(([, { Properties }]) =>
    JSON.stringify(Properties.EventSourceArn).includes('TablesOutbox'),
  );
  expect(readers).toHaveLength(2);
});
