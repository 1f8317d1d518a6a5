import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { DEFAULT_LINGER_SECONDS, OF_SANDBOX_INDEX } from '../../functions/domain/sandbox.ts';
import { PURGED } from '../../functions/platform/metric-names.ts';
import { SETTINGS } from './contexts.ts';
import { functionNamed, ofType, synthesize, tableGrants } from './synthesize.ts';

const template = synthesize();
const nameOf = (fn: { Properties: Record<string, unknown> }): string =>
  Object(fn.Properties.Environment).Variables.POWERTOOLS_SERVICE_NAME;

/** The tables that rows of sandboxes are in. */
const TABLES = ['Service', 'Outbox', 'Deliveries', 'Ledger', 'Knowledge'];

describe('tables', () => {
  const tables = ofType(template, 'AWS::DynamoDB::Table');
  const indexesOf = (name: string): { IndexName: string }[] => {
    const [, table] = tables.find(([id]) => id.startsWith(`Tables${name}`)) ?? [];
    return Object(table?.Properties).GlobalSecondaryIndexes ?? [];
  };

  it.each(TABLES)(
    '%s has the rows of sandboxes in an index of their keys, by the generation alone',
    (name) => {
      expect(indexesOf(name)).toContainEqual({
        IndexName: OF_SANDBOX_INDEX,
        KeySchema: [{ AttributeName: 'ofSandbox', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      });
    },
  );

  it('counts of requests, usage and e-mail, which no sandbox has, or which end with their minute, are in none', () => {
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

  it('runs every minute, for some minutes, and is told of all tables and how long to wait', () => {
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

  it('is not repeated by who invokes it: the next minute does', () => {
    template.hasResourceProperties('AWS::Events::Rule', {
      Targets: [
        Match.objectLike({
          Arn: { 'Fn::GetAtt': [id, 'Arn'] },
          RetryPolicy: Match.objectLike({ MaximumRetryAttempts: 0 }),
        }),
      ],
    });
  });

  it('may delete what the indexes name, and keep its orders, and nothing else', () => {
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

  it('is alone with the right to delete rows by the batch, and to read these indexes', () => {
    for (const [, other] of ofType(template, 'AWS::Lambda::Function'))
      if (nameOf(other) !== 'purge')
        expect(
          tableGrants(template, other).filter(
            (grant) => grant.includes('BatchWrite') || grant.includes(OF_SANDBOX_INDEX),
          ),
          nameOf(other),
        ).toEqual([]);
  });

  it('waits as long as it is told', () => {
    const [, told] = functionNamed(synthesize(SETTINGS), 'purge');
    expect(Object(told.Properties.Environment).Variables.LINGER_SECONDS).toBe('300');
  });

  it.each([[-1], [3601], ['soon'], ['']])('cannot be told to wait %j seconds', (lingerSeconds) => {
    expect(() => synthesize({ lingerSeconds })).toThrow(
      `context lingerSeconds must be a number of seconds from 0 to 3600, not "${lingerSeconds}"`,
    );
  });
});

describe('what a function began before a reset', () => {
  /** They change rows that there are, each under a condition that says so, and add none. */
  const ADDS_NOTHING = ['audit-ledger', 'purge'];

  it.each([10, 60])(
    'is over before the purge closes, with a deadline of %d s for receivers',
    (attemptTimeoutSeconds) => {
      const timed = synthesize({ attemptTimeoutSeconds });
      const writing = ofType(timed, 'AWS::Lambda::Function').filter(([, fn]) =>
        tableGrants(timed, fn).some((grant) =>
          TABLES.some((table) =>
            [`dynamodb:PutItem ${table}`, `dynamodb:UpdateItem ${table}`].includes(grant),
          ),
        ),
      );
      expect(writing.map(([, fn]) => nameOf(fn))).toEqual(
        expect.arrayContaining([...ADDS_NOTHING, 'create-message', 'fan-out', 'dispatch', 'delivery-stream']),
      );
      for (const [, fn] of writing)
        if (!ADDS_NOTHING.includes(nameOf(fn)))
          expect(Number(fn.Properties.Timeout), nameOf(fn)).toBeLessThan(DEFAULT_LINGER_SECONDS);
    },
  );

  it.each(ADDS_NOTHING)('adds nothing when it is %s, which may take longer', (name) => {
    const [, fn] = functionNamed(template, name);
    expect(tableGrants(template, fn).filter((grant) => grant.includes('PutItem'))).toEqual([]);
  });
});

describe('who acts on sandboxes', () => {
  it.each([
    ['provision-sandbox', ['GetItem', 'PutItem']],
    ['reset-sandbox', ['GetItem', 'PutItem', 'UpdateItem']],
    ['read-sandbox', ['GetItem', 'Query']],
  ])('%s does nothing to the service table but %j', (name, actions) => {
    const [, fn] = functionNamed(template, name);
    expect(tableGrants(template, fn)).toEqual(
      [...actions.map((action) => `dynamodb:${action} Service`), 'dynamodb:UpdateItem Rates'].sort(),
    );
  });

  it.each(['fan-out', 'dead-fan-outs', 'dispatch', 'delivery-stream', 'audit-ledger'])(
    '%s may ask which generation is the present one',
    (name) => {
      const [, fn] = functionNamed(template, name);
      expect(tableGrants(template, fn)).toContain('dynamodb:GetItem Service');
      expect(Object(fn.Properties.Environment).Variables).toHaveProperty('SERVICE_TABLE');
    },
  );

  it('the dispatcher alone holds a transaction to a generation', () => {
    const checking = ofType(template, 'AWS::Lambda::Function').filter(([, fn]) =>
      tableGrants(template, fn).includes('dynamodb:ConditionCheckItem Service'),
    );
    expect(checking.map(([, fn]) => nameOf(fn))).toEqual(['dispatch']);
  });
});

describe('somebody is told', () => {
  it('when a purge is not done after an hour', () => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'ConversationService/prod',
      MetricName: PURGED.oldestSeconds,
      Statistic: 'Maximum',
      Threshold: 3600,
      TreatMissingData: 'notBreaching',
      AlarmDescription: Match.stringLikeRegexp('.{20,}'),
    });
  });

  it('when the purge fails', () => {
    const [id] = functionNamed(template, 'purge');
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'AWS/Lambda',
      MetricName: 'Errors',
      Dimensions: [{ Name: 'FunctionName', Value: { Ref: id } }],
      Threshold: 3,
    });
  });
});
