import { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import { CfnQueue } from 'aws-cdk-lib/aws-sqs';
import type { IConstruct } from 'constructs';
import { describe, expect, it } from 'vitest';
import {
  CHECK_LEASE_SECONDS,
  CHECK_TIMEOUT_SECONDS,
  deriveAttemptClocks,
  EXTRACT_TIMEOUT_SECONDS,
  FETCH_TIMEOUT_SECONDS,
  INVOKE_TIMEOUT_SECONDS,
  MAIL_LEASE_SECONDS,
  REDELIVER_LEASE_SECONDS,
  REDELIVER_ROUND_SECONDS,
  REDELIVER_TIMEOUT_SECONDS,
} from '../../functions/delivery/timing.ts';
import { DEFAULT_LINGER_SECONDS } from '../../functions/tenancy/purge.ts';
import { HIGHEST_LIMITS, LOWEST_LIMITS } from './contexts.ts';
import { all, nameOf } from './reading.ts';
import { functionNamed, ofType, serviceIn, synthesize, tableGrants, uncheckedApp } from './synthesize.ts';

/* Times of the template that must outlast one another, and those of the code. */

const template = synthesize();
const timeoutOf = (name: string) => Number(functionNamed(template, name)[1].Properties.Timeout);
const visibilitiesOf = (queue: RegExp) =>
  all(template, 'AWS::SQS::Queue')
    .filter(([id, { Properties }]) => queue.test(id) && Properties.RedrivePolicy)
    .map(([, { Properties }]) => Number(Properties.VisibilityTimeout));
const lanesOf = (from: ReturnType<typeof synthesize>) =>
  ofType(from, 'AWS::SQS::Queue').filter(
    ([id, { Properties }]) => /^Delivery(Fresh|Retry|Slow|Stalled)/.test(id) && Properties.RedrivePolicy,
  );

/** The resource of a construct, which can change until the synthesis. */
function resourceOf<T extends object>({ node }: IConstruct, type: new (...parameters: never[]) => T): T {
  if (node.defaultChild instanceof type) return node.defaultChild;
  throw new Error(`${node.path} is no ${type.name}`);
}

describe('the times of an attempt', () => {
  it.each<[number, Record<string, unknown>]>([
    [0.5, LOWEST_LIMITS],
    [10, {}],
    [60, HIGHEST_LIMITS],
  ])('each outlast the one before, with a deadline of %d s', (attemptTimeoutSeconds, context) => {
    const timed = synthesize(context);
    const [, dispatcher] = functionNamed(timed, 'dispatch');
    const timeout = Number(dispatcher.Properties.Timeout);
    expect(timeout).toBeGreaterThan(attemptTimeoutSeconds);
    expect(Object(dispatcher.Properties.Environment).Variables.ATTEMPT_TIMEOUT_SECONDS).toBe(
      String(attemptTimeoutSeconds),
    );
    const { visibility } = deriveAttemptClocks(attemptTimeoutSeconds);
    // A message of a batching window counts as received.
    for (const [id, { Properties }] of lanesOf(timed))
      expect(Properties.VisibilityTimeout, id).toBe(/Stalled/.test(id) ? visibility + 30 : visibility);
  });

  it('stop the synthesis when one does not outlast the one before', () => {
    const app = uncheckedApp();
    const { data, workers } = serviceIn(app);
    const { retry, stalled } = data.deliveryQueues.lanes;
    /** What the synthesis refuses, with another time in place of the resource's own. */
    const refusals = <Part extends CfnQueue | CfnFunction>(part: Part, time: keyof Part, seconds: number) => {
      const before = part[time];
      Object.assign(part, { [time]: seconds });
      const errors = app.node.findAll().flatMap(({ node }) => node.validate());
      part[time] = before;
      return errors;
    };
    expect(refusals(resourceOf(retry, CfnQueue), 'visibilityTimeout', 20)).toContain(
      'the lease (25 s) must be shorter than the visibility timeout (20 s)',
    );
    // A batching window of 30 s counts as received.
    expect(refusals(resourceOf(stalled, CfnQueue), 'visibilityTimeout', 55)).toContain(
      'the lease (25 s) must be shorter than the visibility timeout (25 s)',
    );
    expect(refusals(resourceOf(workers.delivery.dispatch, CfnFunction), 'timeout', 60)).toContain(
      'the function timeout (60 s) must be shorter than the lease (25 s)',
    );
    expect(app.node.findAll().flatMap(({ node }) => node.validate())).toEqual([]);
  });
});

describe('the times of a source check', () => {
  it('end extractions within the function, and the function within the lease, which ends before the message reappears', () => {
    expect(timeoutOf('extract-content')).toBe(EXTRACT_TIMEOUT_SECONDS);
    expect(EXTRACT_TIMEOUT_SECONDS - FETCH_TIMEOUT_SECONDS).toBeGreaterThan(10);
    // A cold start may take 10 seconds, and comparing the texts as long.
    expect(INVOKE_TIMEOUT_SECONDS).toBeGreaterThan(EXTRACT_TIMEOUT_SECONDS + 10);
    expect(INVOKE_TIMEOUT_SECONDS).toBeLessThan(CHECK_TIMEOUT_SECONDS - 10);
    expect(timeoutOf('check-source')).toBe(CHECK_TIMEOUT_SECONDS);
    expect(CHECK_LEASE_SECONDS).toBeGreaterThan(CHECK_TIMEOUT_SECONDS);
    expect(Math.min(...visibilitiesOf(/^BusCheckSourceQueue/))).toBeGreaterThan(CHECK_LEASE_SECONDS);
  });
});

describe('the times of a redelivery job', () => {
  it('leave time for a page when its round ends, and end the function before its lease', () => {
    expect(timeoutOf('redeliver')).toBe(REDELIVER_TIMEOUT_SECONDS);
    expect(REDELIVER_ROUND_SECONDS).toBeLessThanOrEqual(REDELIVER_TIMEOUT_SECONDS / 2);
    expect(REDELIVER_LEASE_SECONDS).toBeGreaterThan(REDELIVER_TIMEOUT_SECONDS);
  });
});

describe('the times of an e-mail', () => {
  it('end the function before its claim, and the claim before the message reappears', () => {
    expect(timeoutOf('notify')).toBeLessThan(MAIL_LEASE_SECONDS);
    const visibilities = visibilitiesOf(/^BusNotify(Disabled)?Queue/);
    expect(visibilities).toHaveLength(2);
    for (const visibility of visibilities) expect(visibility).toBeGreaterThan(MAIL_LEASE_SECONDS);
  });
});

describe('a run of a minute', () => {
  it.each(['reconcile', 'resume-redelivery-jobs', 'schedule-source-checks'])(
    'of %s ends before the next one',
    (name) => {
      expect(timeoutOf(name)).toBeLessThan(60);
    },
  );
});

/** The tables with rows of sandboxes. */
const TABLES = ['Service', 'Outbox', 'Deliveries', 'Ledger', 'Knowledge'];

describe('an invocation that began before a reset', () => {
  /** It changes existing rows, each under a condition, and adds none. */
  const ADDS_NOTHING = 'audit-ledger';
  /** The purge adds rows of live organizations only (`retentionDays`), which no reset concerns. */
  const MAY_TAKE_LONGER = [ADDS_NOTHING, 'purge'];

  it.each<[number, Record<string, unknown>]>([
    [10, {}],
    [60, HIGHEST_LIMITS],
  ])('ends before the purge does, with a deadline of %d s for receivers', (_, context) => {
    const timed = synthesize(context);
    const writing = ofType(timed, 'AWS::Lambda::Function').filter(([, fn]) =>
      tableGrants(timed, fn).some((grant) =>
        TABLES.some((table) => [`dynamodb:PutItem ${table}`, `dynamodb:UpdateItem ${table}`].includes(grant)),
      ),
    );
    expect(writing.map(([, fn]) => nameOf(fn))).toEqual(
      expect.arrayContaining([
        ...MAY_TAKE_LONGER,
        'create-message',
        'fan-out',
        'dispatch',
        'delivery-stream',
      ]),
    );
    for (const [, fn] of writing)
      if (!MAY_TAKE_LONGER.includes(nameOf(fn)))
        expect(Number(fn.Properties.Timeout), nameOf(fn)).toBeLessThan(DEFAULT_LINGER_SECONDS);
  });

  it('adds nothing in the audit of the ledger, which may take longer', () => {
    const [, fn] = functionNamed(template, ADDS_NOTHING);
    expect(tableGrants(template, fn).filter((grant) => grant.includes('PutItem'))).toEqual([]);
  });
});
