import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { SWEPT } from '../../functions/aws/metrics.ts';
import {
  CHECK_LEASE_SECONDS,
  CHECK_TIMEOUT_SECONDS,
  EXTRACT_TIMEOUT_SECONDS,
  FETCH_TIMEOUT_SECONDS,
  INVOKE_TIMEOUT_SECONDS,
} from '../../functions/delivery/timing.ts';
import { BUS_SOURCE } from '../../functions/events/bus.ts';
import { SETTINGS } from './contexts.ts';
import { expectEachMinute } from './reading.ts';
import { functionNamed, ofType, statementsOf, synthesize, tableGrants } from './synthesize.ts';

const template = synthesize();
const variablesOf = (fn: { Properties: Record<string, unknown> }) =>
  Object(fn.Properties.Environment).Variables;

describe('schedule-source-checks', () => {
  const [id, fn] = functionNamed(template, 'schedule-source-checks');

  it('runs every minute, ends before the next run, and is not retried', () => {
    expectEachMinute(template, [id, fn]);
  });

  it('may read and reschedule due rows, send to the queue of the checks, and nothing else', () => {
    expect(tableGrants(template, fn)).toEqual([
      'dynamodb:Query Knowledge/index/due',
      'dynamodb:UpdateItem Knowledge',
    ]);
    const sends = statementsOf(template, fn).filter(({ Action }) =>
      [Action].flat().includes('sqs:SendMessage'),
    );
    const queues = sends.flatMap(({ Resource }) => Resource).map((arn) => JSON.stringify(arn));
    expect(queues).toEqual([expect.stringContaining('BusCheckSourceQueue')]);
    expect(JSON.stringify(variablesOf(fn).CHECKS_QUEUE)).toContain('BusCheckSourceQueue');
  });
});

describe('the workers of source checks', () => {
  const [id, fn] = functionNamed(template, 'check-source');

  it('receive events of sources, five at once, with twenty concurrent invocations at most', () => {
    template.hasResourceProperties('AWS::Events::Rule', {
      EventPattern: { source: [BUS_SOURCE], 'detail-type': ['source.check', 'source.deleted'] },
    });
    template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      FunctionName: { Ref: id },
      BatchSize: 5,
      ScalingConfig: { MaximumConcurrency: 20 },
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    });
  });

  it('end extractions within the function, and the function within the lease, which ends before the message reappears', () => {
    expect(fn.Properties.Timeout).toBe(CHECK_TIMEOUT_SECONDS);
    // A cold start may take 10 seconds, and comparing the texts as long.
    expect(INVOKE_TIMEOUT_SECONDS).toBeGreaterThan(EXTRACT_TIMEOUT_SECONDS + 10);
    expect(INVOKE_TIMEOUT_SECONDS).toBeLessThan(CHECK_TIMEOUT_SECONDS - 10);
    expect(CHECK_LEASE_SECONDS).toBeGreaterThan(CHECK_TIMEOUT_SECONDS);
    const [[, queue] = []] = ofType(template, 'AWS::SQS::Queue').filter(([name]) =>
      name.startsWith('BusCheckSourceQueue'),
    );
    expect(Number(queue?.Properties.VisibilityTimeout)).toBeGreaterThan(CHECK_LEASE_SECONDS);
  });

  it("may read organizations' states and blocked hosts, store sources with their texts, and announce changes", () => {
    expect(tableGrants(template, fn)).toEqual([
      'dynamodb:DeleteItem Knowledge',
      'dynamodb:GetItem Service',
      'dynamodb:PutItem Knowledge',
      'dynamodb:PutItem Outbox',
      'dynamodb:Query Knowledge',
      'dynamodb:Query Service',
      'dynamodb:UpdateItem Knowledge',
    ]);
  });

  it("hide messages beyond an organization's share, a quarter of the workers by default", () => {
    const actions = statementsOf(template, fn).flatMap(({ Action }) => [Action].flat());
    expect(actions).toContain('sqs:ChangeMessageVisibility');
    expect(actions).not.toContain('sqs:SendMessage');
    expect(variablesOf(fn).CHECKS_PER_ORGANIZATION).toBe('5');
    const [, other] = functionNamed(synthesize(SETTINGS), 'check-source');
    expect(variablesOf(other).CHECKS_PER_ORGANIZATION).toBe('2');
    for (const checksPerOrganization of [1, 11])
      expect(() => synthesize({ checksPerOrganization })).toThrow('checksPerOrganization');
  });

  it('run at the interval of the deployment, every hour by default', () => {
    expect(variablesOf(fn).CHECK_EVERY_SECONDS).toBe('3600');
    const [, other] = functionNamed(synthesize(SETTINGS), 'check-source');
    expect(variablesOf(other).CHECK_EVERY_SECONDS).toBe('60');
  });
});

describe('the function that reads contents', () => {
  const [id, fn] = functionNamed(template, 'extract-content');

  it('leaves ten seconds for the text after the slowest fetch', () => {
    expect(fn.Properties.Timeout).toBe(EXTRACT_TIMEOUT_SECONDS);
    expect(EXTRACT_TIMEOUT_SECONDS - FETCH_TIMEOUT_SECONDS).toBeGreaterThan(10);
    expect(fn.Properties.MemorySize).toBe(1024);
  });

  it('may write its log and nothing else, and is not in a network of the account', () => {
    expect(statementsOf(template, fn).flatMap(({ Action }) => Action)).toEqual([
      'logs:CreateLogStream',
      'logs:PutLogEvents',
    ]);
    expect(fn.Properties).not.toHaveProperty('VpcConfig');
  });

  it('is invoked by the checks, which may invoke nothing else', () => {
    const [, checks] = functionNamed(template, 'check-source');
    expect(variablesOf(checks).EXTRACT_FUNCTION).toEqual({ Ref: id });
    const invocations = ofType(template, 'AWS::Lambda::Function').flatMap(([, each]) =>
      statementsOf(template, each)
        .filter(({ Action }) => [Action].flat().some((action) => String(action).startsWith('lambda:')))
        .map(({ Action, Resource }) => ({ Action, Resource, by: variablesOf(each).FUNCTION_NAME })),
    );
    expect(invocations).toEqual([
      { Action: 'lambda:InvokeFunction', Resource: { 'Fn::GetAtt': [id, 'Arn'] }, by: 'check-source' },
    ]);
  });
});

describe('the routes of sources', () => {
  it.each([
    [
      'create-source',
      ['PutItem Knowledge', 'PutItem Outbox', 'PutItem Service', 'Query Service', 'UpdateItem Knowledge'],
    ],
    ['list-sources', ['Query Knowledge']],
    ['read-source', ['GetItem Knowledge']],
    [
      'delete-source',
      [
        'DeleteItem Knowledge',
        'GetItem Knowledge',
        'PutItem Outbox',
        'PutItem Service',
        'UpdateItem Knowledge',
      ],
    ],
    ['sync-source', ['GetItem Knowledge', 'PutItem Outbox', 'PutItem Service', 'UpdateItem Knowledge']],
  ])('%s may, beside the actions of every route, do %j', (name, actions) => {
    const [, fn] = functionNamed(template, name);
    const usual = ['dynamodb:GetItem Service', 'dynamodb:UpdateItem Rates'];
    expect(tableGrants(template, fn)).toEqual(
      [...actions.map((action) => `dynamodb:${action}`), ...usual].sort(),
    );
    expect(JSON.stringify(variablesOf(fn).KNOWLEDGE_TABLE)).toContain('TablesKnowledge');
  });

  it('permit a check of one source at the interval of the deployment, once a minute by default', () => {
    const cooldownOf = (context: Record<string, unknown>) =>
      variablesOf(functionNamed(synthesize(context), 'sync-source')[1]).SYNC_COOLDOWN_SECONDS;
    expect(cooldownOf({})).toBe('60');
    expect(cooldownOf(SETTINGS)).toBe('6');
  });

  it("are the only routes with the table's name, beside the workers", () => {
    const withTable = ofType(template, 'AWS::Lambda::Function')
      .map(([, fn]) => variablesOf(fn))
      .filter((variables) => 'KNOWLEDGE_TABLE' in variables)
      .map((variables) => variables.FUNCTION_NAME);
    expect(withTable.sort()).toEqual(
      expect.arrayContaining([
        'check-source',
        'create-source',
        'purge',
        'schedule-source-checks',
        'sync-source',
      ]),
    );
    expect(withTable).not.toContain('create-ticket');
  });
});

describe('an alarm of the source checks', () => {
  it.each([
    ['the schedule falls behind', { MetricName: SWEPT.latestSeconds, Statistic: 'Maximum', Threshold: 900 }],
    [
      'checks wait for half an hour',
      { MetricName: 'ApproximateAgeOfOldestMessage', Statistic: 'Maximum', Threshold: 1800 },
    ],
    [
      'the schedule fails',
      {
        MetricName: 'Errors',
        Dimensions: [
          { Name: 'FunctionName', Value: { Ref: functionNamed(template, 'schedule-source-checks')[0] } },
        ],
        Threshold: 3,
      },
    ],
  ])('notifies when %s', (_, alarm) => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      ...alarm,
      TreatMissingData: 'notBreaching',
      AlarmDescription: Match.stringLikeRegexp('.{20,}'),
    });
  });
});
