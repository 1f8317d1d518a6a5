import {
  CloudWatchClient,
  DescribeAlarmHistoryCommand,
  DescribeAlarmsCommand,
  SetAlarmStateCommand,
} from '@aws-sdk/client-cloudwatch';
import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { ListSubscriptionsByTopicCommand, type SNSClient } from '@aws-sdk/client-sns';
import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { dataOf, expectProblem } from '../../../../lib/operate/verify/api.ts';
import type { Check } from '../../../../lib/operate/verify/check.ts';
import { alarmChecks } from '../../../../lib/operate/verify/checks/alarm.ts';
import { findMappingProblems } from '../../../../lib/operate/verify/checks/event-sources.ts';
import { organizationChecks } from '../../../../lib/operate/verify/checks/organization.ts';
import { queueChecks } from '../../../../lib/operate/verify/checks/queues.ts';
import { requestChecks } from '../../../../lib/operate/verify/checks/requests.ts';
import { aContext, anAnswer, aProblem } from './verification-context.ts';

const named = (checks: readonly Check[], name: string): Check =>
  checks.find((check) => check.name === name) ?? expect.fail(`there is no check ${name}`);

describe('an answer of the API', () => {
  it('is the data in its envelope', () => {
    const answer = anAnswer({ body: { success: true, data: ['one'] } });
    expect(dataOf(answer, 200, z.array(z.string()))).toEqual(['one']);
  });

  it.each([
    [
      'another status',
      aProblem(500, 'INTERNAL_ERROR'),
      'answered 500 instead of 200: INTERNAL_ERROR: No. (Request-Id req-1)',
    ],
    ['no envelope', anAnswer({ body: [], text: '[]' }), 'unexpected body'],
    ['no request id', anAnswer({ headers: new Headers() }), 'without a Request-Id'],
  ])('with %s fails its check', (_, answer, message) => {
    expect(() => dataOf(answer, 200, z.array(z.string()))).toThrow(message);
  });

  it('is the expected error', () => {
    expect(expectProblem(aProblem(404, 'NOT_FOUND'), 'NOT_FOUND')).toBe('404 NOT_FOUND');
  });

  it.each([
    ['of another status', aProblem(403, 'NOT_FOUND'), 'answered 403 instead of 404'],
    ['of another type', aProblem(404, 'GONE'), 'the type GONE instead of NOT_FOUND'],
    [
      'without the envelope',
      anAnswer({ status: 404, text: '{"message":"Forbidden"}' }),
      'without the error envelope',
    ],
    ['with another request id', aProblem(404, 'NOT_FOUND', 'req-2'), 'two different request ids'],
  ])('fails its check when it is an error %s', (_, answer, message) => {
    expect(() => expectProblem(answer, 'NOT_FOUND')).toThrow(message);
  });

  it('fails its check when it refuses a method without Allow', async () => {
    const { run } = named(
      requestChecks(aContext({ answers: () => aProblem(405, 'METHOD_NOT_ALLOWED') })),
      'Call with a wrong method',
    );
    await expect(run()).rejects.toThrow('without the methods in Allow');
  });
});

describe('a function that creates no organization', () => {
  it('is reported with its error', async () => {
    const context = aContext();
    mockClient(context.clients.lambda as LambdaClient)
      .on(InvokeCommand)
      .resolves({
        FunctionError: 'Unhandled',
        Payload: Buffer.from('{"errorType":"AccessDenied","errorMessage":"no"}') as never,
      });
    await expect(named(organizationChecks(context), 'Make an organization').run()).rejects.toThrow(
      'conversation-service-prod-enrol failed: AccessDenied: no',
    );
  });
});

describe('event source mappings', () => {
  const queueArn = (name: string) => `arn:aws:sqs:eu-central-1:1:${name}`;
  const streamArn = (name: string) => `arn:aws:dynamodb:eu-central-1:1:table/${name}/stream/2026`;
  const place = {
    queues: new Map([['fresh', 'https://sqs.eu-central-1.amazonaws.com/1/Fresh1']]),
    tables: new Map([
      ['outbox', 'Outbox1'],
      ['deliveries', 'Deliveries1'],
      ['service', 'Service1'],
    ]),
  };
  const mapping = (EventSourceArn: string, changes = {}) => ({
    EventSourceArn,
    FunctionArn: 'arn:aws:lambda:eu-central-1:1:function:dispatch:live',
    State: 'Enabled',
    ...changes,
  });
  const all = [
    mapping(queueArn('Fresh1')),
    mapping(streamArn('Outbox1'), { LastProcessingResult: 'No records processed' }),
    mapping(streamArn('Deliveries1'), { LastProcessingResult: 'OK' }),
  ];

  it('pass when each queue and stream has an enabled one', () => {
    expect(findMappingProblems(all, place)).toEqual([]);
  });

  it.each([
    [
      'is off',
      [mapping(queueArn('Fresh1'), { State: 'Disabled' }), ...all.slice(1)],
      'The mapping of dispatch from the queue fresh is Disabled.',
    ],
    [
      'fails',
      [
        ...all.slice(0, 2),
        mapping(streamArn('Deliveries1'), { LastProcessingResult: 'PROBLEM: Function call failed' }),
      ],
      'The mapping of dispatch from the stream of deliveries reports "PROBLEM: Function call failed".',
    ],
    ['is missing', all.slice(1), 'Nothing reads the queue fresh.'],
  ])('are reported when one %s', (_, mappings, finding) => {
    expect(findMappingProblems(mappings, place)).toEqual([finding]);
  });
});

describe('queues', () => {
  const url = 'https://sqs.eu-central-1.amazonaws.com/1/';
  const check = (name: string, depths: readonly number[]) => {
    const place = {
      ...aContext().place,
      queues: new Map([['meter', `${url}Meter`]]),
      deadLetters: new Map([
        ['meter', `${url}MeterDead`],
        ['delivery', `${url}DeliveryDead`],
      ]),
    };
    const context = aContext({ place });
    const looks = [...depths];
    mockClient(context.clients.sqs as SQSClient)
      .on(GetQueueAttributesCommand)
      .callsFake(() => ({
        Attributes: {
          ApproximateNumberOfMessages: String((looks.length > 1 ? looks.shift() : looks[0]) ?? 0),
          ApproximateNumberOfMessagesNotVisible: '3',
        },
      }));
    return named(queueChecks(context), name).run();
  };

  it('pass while their backlog falls', async () => {
    expect(await check('Queues', [12, 9])).toBe('1 queues, 12 messages waiting');
  });

  it('are reported when their backlog does not fall', async () => {
    await expect(check('Queues', [12])).rejects.toThrow(
      'meter is stuck: 12 waiting and not fewer while it was watched, 3 in flight.',
    );
  });

  it('are reported when they are dead-letter queues with messages, except those that a function handles', async () => {
    await expect(check('Dead letters', [2])).rejects.toThrow(
      /^meter has 5: npm run operate -- dead-letters list meter$/,
    );
  });
});

describe('an alarm that is set for a test', () => {
  const alarm = (changes = {}) => ({
    AlarmName: 'MeteringMeterDead1-A',
    StateValue: 'OK' as 'OK' | 'ALARM',
    ActionsEnabled: true,
    AlarmActions: ['arn:topic'],
    OKActions: ['arn:topic'],
    ...changes,
  });
  const action = (actionState: string) => ({
    HistoryData: JSON.stringify({ actionState, notificationResource: 'arn:topic' }),
    HistorySummary: `${actionState} action arn:topic`,
  });

  function ring(alarms: ReturnType<typeof alarm>[], outcomes: readonly string[]) {
    const client = new CloudWatchClient({ region: 'eu-central-1' });
    const cloudWatch = mockClient(client);
    const history: ReturnType<typeof action>[] = [action('Succeeded')];
    const left = [...outcomes];
    cloudWatch.on(DescribeAlarmsCommand).resolves({ MetricAlarms: alarms });
    cloudWatch.on(DescribeAlarmHistoryCommand).callsFake(() => ({ AlarmHistoryItems: [...history] }));
    cloudWatch.on(SetAlarmStateCommand).callsFake(() => {
      const outcome = left.shift();
      if (outcome !== undefined) history.unshift(action(outcome));
      return {};
    });
    const context = aContext();
    const outputs = { ...context.place.outputs, TestAlarmName: 'MeteringMeterDead1-A' };
    context.place = { ...context.place, outputs };
    context.clients = { ...context.clients, cloudWatch: client };
    const states = () =>
      cloudWatch.commandCalls(SetAlarmStateCommand).map(({ args }) => args[0].input.StateValue);
    const asked = () =>
      cloudWatch.commandCalls(DescribeAlarmsCommand).map(({ args }) => args[0].input.AlarmNames);
    return { context, states, asked, run: named(alarmChecks(context), 'Ring an alarm').run };
  }

  it('passes when the topic accepts both notifications', async () => {
    const { run, states } = ring([alarm()], ['Succeeded', 'Succeeded']);
    expect(await run()).toContain('MeteringMeterDead1-A notified the topic of ALARM and OK');
    expect(states()).toEqual(['ALARM', 'OK']);
  });

  it('fails when the topic refuses one, and is reset', async () => {
    const { run, states, context } = ring([alarm()], ['Failed']);
    await expect(run()).rejects.toThrow('could not notify its topic: Failed action arn:topic');
    await context.removals.removeAll();
    expect(states()).toEqual(['ALARM', 'OK']);
  });

  it('fails when no notification comes in time', async () => {
    await expect(ring([alarm()], []).run()).rejects.toThrow('did not notify its topic in 5 s');
  });

  it('fails when no alarm notifies the topic', async () => {
    await expect(ring([alarm({ AlarmActions: [] })], []).run()).rejects.toThrow('does not notify arn:topic');
    await expect(ring([], []).run()).rejects.toThrow('does not notify arn:topic');
  });

  it('is skipped where alarms have no actions, and where there is no CloudWatch', async () => {
    await expect(ring([alarm({ ActionsEnabled: false })], []).run()).rejects.toThrow('are disabled');
    const { run } = named(alarmChecks(aContext()), 'Ring an alarm');
    await expect(run()).rejects.toThrow('not there locally: CloudWatch');
  });

  it('is the one of the outputs only, and never while it is in the alarm state', async () => {
    const { run, states, asked } = ring([alarm({ StateValue: 'ALARM' })], []);
    await expect(run()).rejects.toThrow('is not OK');
    expect(states()).toEqual([]);
    expect(asked()).toEqual([['MeteringMeterDead1-A']]);
  });
});

describe('subscriptions of the alarms', () => {
  const check = (...arns: string[]) => {
    const context = aContext();
    mockClient(context.clients.sns as SNSClient)
      .on(ListSubscriptionsByTopicCommand, { TopicArn: 'arn:topic' })
      .resolves({
        Subscriptions: arns.map((SubscriptionArn) => ({ SubscriptionArn, Endpoint: 'a@b.example' })),
      });
    return named(alarmChecks(context), 'Alarm subscriptions').run();
  };

  it('pass when all are confirmed', async () => {
    expect(await check('arn:1', 'arn:2')).toBe('2 confirmed');
  });

  it('are reported when one was not confirmed, or there is none', async () => {
    await expect(check('arn:1', 'PendingConfirmation')).rejects.toThrow(/^a@b.example gets no alarms until/);
    await expect(check()).rejects.toThrow('Nobody gets the alarms: "aws sns subscribe --topic-arn arn:topic');
  });

  it('are skipped in a stage without alarms', async () => {
    const context = aContext();
    context.place = { ...context.place, outputs: {} };
    await expect(named(alarmChecks(context), 'Alarm subscriptions').run()).rejects.toThrow('has no alarms');
  });
});
