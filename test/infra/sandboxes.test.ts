import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { PURGED } from '../../functions/aws/metrics.ts';
import { DEFAULT_LINGER_SECONDS, OF_SANDBOX_INDEX } from '../../functions/tenancy/purge.ts';
import { HIGHEST_LIMITS, SETTINGS } from './contexts.ts';
import { functionNamed, ofType, synthesize, tableGrants } from './synthesize.ts';

const template = synthesize();
const nameOf = (fn: { Properties: Record<string, unknown> }): string =>
  Object(fn.Properties.Environment).Variables.FUNCTION_NAME;

/** The tables with rows of sandboxes. */
const TABLES = ['Service', 'Outbox', 'Deliveries', 'Ledger', 'Knowledge'];

describe('tables', () => {
  const tables = ofType(template, 'AWS::DynamoDB::Table');
  const indexesOf = (name: string): { IndexName: string }[] => {
    const [, table] = tables.find(([id]) => id.startsWith(`Tables${name}`)) ?? [];
    return Object(table?.Properties).GlobalSecondaryIndexes ?? [];
  };

  it.each(TABLES)('%s has the rows of sandboxes in an index of their keys, by the generation', (name) => {
    expect(indexesOf(name)).toContainEqual({
      IndexName: OF_SANDBOX_INDEX,
      KeySchema: [{ AttributeName: 'ofSandbox', KeyType: 'HASH' }],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    });
  });

  it('of requests, usage and e-mail lack this index, because a sandbox has no such rows, or they expire at once', () => {
    const others = ['Rates', 'Usage', 'Mailings'];
    for (const other of others)
      expect(
        indexesOf(other).map(({ IndexName }) => IndexName),
        other,
      ).not.toContain(OF_SANDBOX_INDEX);
    expect(tables).toHaveLength(TABLES.length + others.length);
  });
});

describe('the purge', () => {
  const [id, fn] = functionNamed(template, 'purge');

  it('runs every minute, for some minutes, with the names of all tables and the waiting time', () => {
    template.hasResourceProperties('AWS::Events::Rule', {
      ScheduleExpression: 'rate(1 minute)',
      State: 'ENABLED',
      Targets: [Match.objectLike({ Arn: { 'Fn::GetAtt': [id, 'Arn'] } })],
    });
    expect(fn.Properties.Timeout).toBe(300);
    const { Variables } = Object(fn.Properties.Environment);
    for (const name of TABLES)
      expect(JSON.stringify(Variables[`${name.toUpperCase()}_TABLE`])).toContain(`Tables${name}`);
    expect(Variables.LINGER_SECONDS).toBe(String(DEFAULT_LINGER_SECONDS));
  });

  it('is not retried: the next minute runs it again', () => {
    template.hasResourceProperties('AWS::Events::Rule', {
      Targets: [
        Match.objectLike({
          Arn: { 'Fn::GetAtt': [id, 'Arn'] },
          RetryPolicy: Match.objectLike({ MaximumRetryAttempts: 0 }),
        }),
      ],
    });
  });

  it('may delete the rows in the indexes, and keep its jobs, and nothing else', () => {
    expect(tableGrants(template, fn)).toEqual(
      [
        ...TABLES.flatMap((table) => [
          `dynamodb:BatchWriteItem ${table}`,
          `dynamodb:Query ${table}/index/${OF_SANDBOX_INDEX}`,
        ]),
        ...['Query', 'UpdateItem', 'DeleteItem'].map((action) => `dynamodb:${action} Service`),
      ].sort(),
    );
  });

  it('is the only function that may delete rows in batches and read these indexes', () => {
    for (const [, other] of ofType(template, 'AWS::Lambda::Function'))
      if (nameOf(other) !== 'purge')
        expect(
          tableGrants(template, other).filter(
            (grant) => grant.includes('BatchWrite') || grant.includes(OF_SANDBOX_INDEX),
          ),
          nameOf(other),
        ).toEqual([]);
  });

  it('waits as long as its setting says', () => {
    const [, fn] = functionNamed(synthesize(SETTINGS), 'purge');
    expect(Object(fn.Properties.Environment).Variables.LINGER_SECONDS).toBe('300');
  });

  it.each([[-1], [3601], ['soon'], ['']])('cannot have a waiting time of %j seconds', (lingerSeconds) => {
    expect(() => synthesize({ lingerSeconds })).toThrow(
      `context lingerSeconds must be a number of seconds from 0 to 3600, not "${lingerSeconds}"`,
    );
  });
});

describe('an invocation that began before a reset', () => {
  /** They change existing rows, each under a condition, and add none. */
  const ADDS_NOTHING = ['audit-ledger', 'purge'];

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
      expect.arrayContaining([...ADDS_NOTHING, 'create-message', 'fan-out', 'dispatch', 'delivery-stream']),
    );
    for (const [, fn] of writing)
      if (!ADDS_NOTHING.includes(nameOf(fn)))
        expect(Number(fn.Properties.Timeout), nameOf(fn)).toBeLessThan(DEFAULT_LINGER_SECONDS);
  });

  it.each(ADDS_NOTHING)('adds nothing in %s, which may take longer', (name) => {
    const [, fn] = functionNamed(template, name);
    expect(tableGrants(template, fn).filter((grant) => grant.includes('PutItem'))).toEqual([]);
  });
});

describe('functions that act on sandboxes', () => {
  it.each([
    ['provision-sandbox', ['GetItem', 'PutItem']],
    // A query of the endpoints and channels that become active again.
    ['reset-sandbox', ['GetItem', 'PutItem', 'Query', 'UpdateItem']],
    ['read-sandbox', ['GetItem', 'Query']],
  ])('%s is limited, on the service table, to %j', (name, actions) => {
    const [, fn] = functionNamed(template, name);
    expect(tableGrants(template, fn)).toEqual(
      [...actions.map((action) => `dynamodb:${action} Service`), 'dynamodb:UpdateItem Rates'].sort(),
    );
  });

  it.each(['fan-out', 'dead-fan-outs', 'dispatch', 'delivery-stream', 'audit-ledger'])(
    '%s may read the current generation',
    (name) => {
      const [, fn] = functionNamed(template, name);
      expect(tableGrants(template, fn)).toContain('dynamodb:GetItem Service');
      expect(Object(fn.Properties.Environment).Variables).toHaveProperty('SERVICE_TABLE');
    },
  );

  it('the dispatcher alone binds a transaction to a generation', () => {
    const checking = ofType(template, 'AWS::Lambda::Function').filter(([, fn]) =>
      tableGrants(template, fn).includes('dynamodb:ConditionCheckItem Service'),
    );
    expect(checking.map(([, fn]) => nameOf(fn))).toEqual(['dispatch']);
  });
});

describe('an alarm of the purge', () => {
  it('reports a purge that is not done after an hour', () => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'ConversationService/prod',
      MetricName: PURGED.oldestSeconds,
      Statistic: 'Maximum',
      Threshold: 3600,
      TreatMissingData: 'notBreaching',
      AlarmDescription: Match.stringLikeRegexp('.{20,}'),
    });
  });

  it('reports failures of the purge', () => {
    const [id] = functionNamed(template, 'purge');
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'AWS/Lambda',
      MetricName: 'Errors',
      Dimensions: [{ Name: 'FunctionName', Value: { Ref: id } }],
      Threshold: 3,
    });
  });
});
