import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { LocalRunError } from '../../../src/errors.ts';
import type { InvocationResult } from '../../../src/functions/sandbox.ts';
import { defineRules, startRules } from '../../../src/sources/rules.ts';
import { References } from '../../../src/template/references.ts';
import { parseTemplate, templateOf } from '../../../src/template/template.ts';

const FUNCTION = 'arn:aws:lambda:us-east-1:000000000000:function:Reconcile';

/** The rules of a template with the permission of EventBridge to invoke a function. */
function started(rule: object, result: InvocationResult = { payload: null }) {
  const { resources, outputs } = parseTemplate({
    Resources: {
      Minutely: {
        Type: 'AWS::Events::Rule',
        Properties: { Targets: [{ Arn: FUNCTION, Id: 'Target0' }], ...rule },
      },
      MayInvoke: {
        Type: 'AWS::Lambda::Permission',
        Properties: {
          Action: 'lambda:InvokeFunction',
          FunctionName: FUNCTION,
          Principal: 'events.amazonaws.com',
          SourceArn: { 'Fn::GetAtt': ['Minutely', 'Arn'] },
        },
      },
      Late: {
        Type: 'AWS::CloudWatch::Alarm',
        Properties: { MetricName: 'ApproximateAgeOfOldestMessage', Threshold: 60, AlarmActions: [] },
      },
    },
  });
  const template = templateOf('Test', resources, outputs);
  const references = new References('Test');
  defineRules(template, references);
  const invocations: [string, unknown][] = [];
  const functionOf = (arn: string) => ({
    invokeAsync: async (event: unknown) => {
      invocations.push([arn, event]);
      return result;
    },
  });
  const lines: string[] = [];
  const sources = startRules(template, references, functionOf, ({ text }) => lines.push(text));
  onTestFinished(async () => {
    await Promise.all(sources.map((source) => source.stop()));
  });
  return { invocations, lines, sources };
}

describe('a rule with a schedule', () => {
  beforeEach(() => void vi.useFakeTimers({ now: new Date('2027-01-01T00:00:00.500Z') }));
  afterEach(() => void vi.useRealTimers());

  it('invokes its function once a period, as EventBridge does', async () => {
    const { invocations } = started({ ScheduleExpression: 'rate(1 minute)', State: 'ENABLED' });
    await vi.advanceTimersByTimeAsync(59_999);
    expect(invocations).toEqual([]);
    await vi.advanceTimersByTimeAsync(60_001);
    expect(invocations).toHaveLength(2);
    expect(invocations[0]).toMatchObject([
      FUNCTION,
      {
        'detail-type': 'Scheduled Event',
        source: 'aws.events',
        time: '2027-01-01T00:01:00Z',
        resources: ['arn:aws:events:us-east-1:000000000000:rule/Test-Minutely'],
      },
    ]);
  });

  it("passes on the rule's input, if any", async () => {
    const Targets = [{ Arn: FUNCTION, Id: 'Target0', Input: '{"shard":3}' }];
    const { invocations } = started({ ScheduleExpression: 'rate(1 minute)', Targets });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(invocations).toEqual([[FUNCTION, { shard: 3 }]]);
  });

  it('pauses while it is disabled, and once it is stopped', async () => {
    const disabled = started({ ScheduleExpression: 'rate(1 minute)', State: 'DISABLED' });
    const { invocations, sources } = started({ ScheduleExpression: 'rate(1 minute)' });
    await Promise.all(sources.map((source) => source.stop()));
    await vi.advanceTimersByTimeAsync(120_000);
    expect([disabled.invocations, invocations]).toEqual([[], []]);
  });

  it.each([
    ['rate(5 minutes)', 300_000],
    ['rate(1 hour)', 3_600_000],
    ['rate(7 days)', 604_800_000],
  ])('has the period %s, and reports failures', async (ScheduleExpression, period) => {
    const failed = { payload: { errorType: 'Broken' }, functionError: 'Unhandled' } as const;
    const { invocations, lines } = started({ ScheduleExpression }, failed);
    await vi.advanceTimersByTimeAsync(period - 501);
    expect(invocations).toEqual([]);
    await vi.advanceTimersByTimeAsync(501);
    expect(invocations).toHaveLength(1);
    expect(lines).toEqual([expect.stringContaining('Broken')]);
  });

  it('does not run at once where its period is longer than a timer can wait', async () => {
    const { invocations } = started({ ScheduleExpression: 'rate(40 days)' });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(invocations).toEqual([]);
  });

  it.each(['cron(0 12 * * ? *)', 'rate(0 minutes)', 'rate(5 seconds)', 'rate(-1 hour)', ''])(
    'is refused with %j',
    (ScheduleExpression) => {
      expect(() => started({ ScheduleExpression })).toThrow(LocalRunError);
    },
  );

  it('is none with a pattern', () => {
    expect(started({ EventPattern: { source: ['test'] } }).sources).toEqual([]);
  });
});
