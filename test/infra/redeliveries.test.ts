import { describe, expect, it } from 'vitest';
import {
  REDELIVER_LEASE_SECONDS,
  REDELIVER_ROUND_SECONDS,
  REDELIVER_TIMEOUT_SECONDS,
} from '../../functions/delivery/timing.ts';
import { FEWEST_REQUESTS, SETTINGS } from './contexts.ts';
import { expectEachMinute } from './reading.ts';
import { functionNamed, invokes, ofType, statementsOf, synthesize, tableGrants } from './synthesize.ts';

const template = synthesize();
const [id, fn] = functionNamed(template, 'redeliver');

describe('the worker of redelivery jobs', () => {
  it('receives one job at once, with a limited concurrency', () => {
    const mappings = ofType(template, 'AWS::Lambda::EventSourceMapping')
      .map(([, { Properties }]) => Properties)
      .filter(({ FunctionName }) => invokes(template, FunctionName, id));
    expect(mappings).toMatchObject([{ BatchSize: 1, ScalingConfig: { MaximumConcurrency: 10 } }]);
  });

  it('has time for a page when its round ends, and stops before the lease does', () => {
    expect(fn.Properties.Timeout).toBe(REDELIVER_TIMEOUT_SECONDS);
    expect(REDELIVER_ROUND_SECONDS).toBeLessThanOrEqual(REDELIVER_TIMEOUT_SECONDS / 2);
    expect(REDELIVER_LEASE_SECONDS).toBeGreaterThan(REDELIVER_TIMEOUT_SECONDS);
  });

  it.each([
    [16, {}],
    [5, FEWEST_REQUESTS],
    [1, { ...FEWEST_REQUESTS, redeliveryGroup: 1 }],
  ] as const)('sends groups of %i at most with context %j', (group, context) => {
    const [, { Properties }] = functionNamed(synthesize(context), 'redeliver');

    expect(Properties.Environment).toMatchObject({ Variables: { REDELIVERY_GROUP: String(group) } });
  });

  it('may read events and deliveries and add deliveries, but change none', () => {
    expect(tableGrants(template, fn)).toEqual([
      // The first deliveries that failed, and the events that have arrived since.
      'dynamodb:BatchGetItem Deliveries',
      'dynamodb:BatchGetItem Service',
      // The job's end.
      'dynamodb:DeleteItem Service',
      'dynamodb:GetItem Service',
      'dynamodb:PutItem Deliveries',
      'dynamodb:Query Deliveries',
      // Events that the endpoint has not received.
      'dynamodb:Query Outbox',
      'dynamodb:UpdateItem Service',
    ]);
  });

  it('may send to the slow and stalled queues, apart from live events, and to its own queue', () => {
    const sends = statementsOf(template, fn).filter(({ Action }) =>
      [Action].flat().includes('sqs:SendMessage'),
    );
    const to = JSON.stringify(sends);
    for (const queue of ['Slow', 'Stalled', 'Redeliver']) expect(to).toContain(queue);
    for (const queue of ['Fresh', 'Retry']) expect(to).not.toContain(queue);
  });
});

describe('resume-redelivery-jobs', () => {
  const [resumeId, resume] = functionNamed(template, 'resume-redelivery-jobs');

  it('runs every minute, ends before the next run, and is not retried', () => {
    expectEachMinute(template, [resumeId, resume]);
  });

  it('may read running jobs and record its resends, send to the queue of their worker, and nothing else', () => {
    expect(tableGrants(template, resume)).toEqual([
      'dynamodb:DeleteItem Service',
      'dynamodb:GetItem Service',
      'dynamodb:Query Service',
      'dynamodb:UpdateItem Service',
    ]);
    const sends = statementsOf(template, resume).filter(({ Action }) =>
      [Action].flat().includes('sqs:SendMessage'),
    );
    expect(sends.map(({ Resource }) => JSON.stringify(Resource))).toEqual([
      expect.stringContaining('BusRedeliverQueue'),
    ]);
  });

  it('waits as long as the stage says before a message counts as lost', () => {
    const variablesOf = (fn: { Properties: Record<string, unknown> }) =>
      Object(fn.Properties.Environment).Variables;
    expect(variablesOf(resume).GRACE_SECONDS).toBe('900');
    const [, patient] = functionNamed(synthesize(SETTINGS), 'resume-redelivery-jobs');
    expect(variablesOf(patient).GRACE_SECONDS).toBe('1800');
  });
});
