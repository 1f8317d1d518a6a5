import { describe, expect, it } from 'vitest';
import { readSettings } from '../../lib/infra/settings.ts';
import { contextOf, EVERYTHING, STAGES } from './contexts.ts';
import {
  all,
  type Found,
  isWatched,
  nameOf,
  ourFunctions,
  references,
  resourcesOf,
  statementsIn,
  TELEMETRY,
} from './reading.ts';
import { ofType, stacksOf, synthesize } from './synthesize.ts';

/* Rules for all resources in every stage, so that a new resource is checked as well. */

/** Resources that hold data and may be deleted, with the reason. */
const HOLDS_DATA = [
  'AWS::DynamoDB::GlobalTable',
  'AWS::SQS::Queue',
  'AWS::SecretsManager::Secret',
  'AWS::KMS::Key',
  'AWS::Cognito::UserPool',
  'AWS::Logs::LogGroup',
];
// The name of the web ACL's log is taken while it is there, and its option may come back.
const EPHEMERAL = [/^TablesRates/, /^WebAclLog/];

describe.each(STAGES)('in stage %s', (stage) => {
  const context = { stage, ...EVERYTHING };
  const template = synthesize(context);
  const resources = resourcesOf(template);
  const { policy } = readSettings(stage, contextOf({ stage }).settings);
  const property = (id: string, name: string): unknown => resources.get(id)?.Properties[name];

  describe('every stack', () => {
    const stacks = stacksOf(context);

    it.each(stacks.map(({ stackName, content }) => [stackName, content] as const))(
      "%s leaves 40 %% of CloudFormation's limits unused, and 20 %% where each path has an answer",
      (name, content) => {
        const count = (section: string) => Object.keys(Object(content[section])).length;
        expect(count('Resources')).toBeLessThanOrEqual(name.endsWith('-Gateway') ? 400 : 300);
        expect(count('Outputs')).toBeLessThanOrEqual(120);
        expect(count('Parameters')).toBeLessThanOrEqual(120);
        expect(Buffer.byteLength(JSON.stringify(content, undefined, 1))).toBeLessThanOrEqual(600_000);
      },
    );

    it('has inline policies within IAM’s limit of 10,240 characters for a role', () => {
      // A resource's ARN takes more characters in an account than as a reference here.
      const longest = (resource: unknown) => (typeof resource === 'string' ? resource.length : 120);
      for (const [id, { Properties }] of all(template, 'AWS::IAM::Role')) {
        const statements = Object(Properties.Policies ?? []).flatMap(
          ({ PolicyDocument }: { PolicyDocument: object }) => statementsIn(PolicyDocument),
        );
        const length = statements.flatMap(
          ({ actions, resources }: { actions: string[]; resources: unknown[] }) => [
            ...actions.map((action) => action.length),
            ...resources.map(longest),
          ],
        );
        expect(
          length.reduce((sum: number, each: number) => sum + each + 5, 200 * statements.length),
          id,
        ).toBeLessThan(10_240);
      }
    });

    it('exports and imports nothing, so that a later release can remove anything', () => {
      expect(stacks).toHaveLength(6);
      for (const { stackName, content } of stacks) {
        expect(JSON.stringify(content), stackName).not.toContain('Fn::ImportValue');
        expect(JSON.stringify(content.Outputs ?? {}), stackName).not.toContain('"Export"');
      }
    });

    it('has tags with its owner, on all resources that support them', () => {
      for (const type of [
        ...HOLDS_DATA,
        'AWS::Lambda::Function',
        'AWS::IAM::Role',
        'AWS::ApiGateway::RestApi',
      ])
        for (const [id, { Properties }] of all(template, type)) {
          const [replica] = [Properties.Replicas ?? []].flat();
          const tags: unknown = Properties.Tags ?? Properties.UserPoolTags ?? Object(replica).Tags;
          const named = Array.isArray(tags)
            ? Object.fromEntries(tags.map(({ Key, Value }) => [Key, Value]))
            : tags;
          expect(named, id).toMatchObject({ service: 'conversation-service', stage });
        }
    });
  });

  describe('every function', () => {
    const functions = ourFunctions(template);

    it('runs on Node 24 and ARM, with a role and a log group of its own', () => {
      const groups = functions.map(([id, { Properties }]) => {
        expect(Properties, id).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'] });
        const { LogFormat, LogGroup, SystemLogLevel } = Object(Properties.LoggingConfig);
        expect(LogFormat, id).toBe('JSON');
        // Lambda's two lines of each invocation would be half of the dispatcher's log costs.
        expect(SystemLogLevel, id).toBe('WARN');
        expect(resources.get(LogGroup.Ref)?.Type, id).toBe('AWS::Logs::LogGroup');
        return LogGroup.Ref;
      });
      const roles = functions.map(([, { Properties }]) => references(Properties.Role)[0]);
      expect(new Set(groups).size).toBe(functions.length);
      expect(new Set(roles).size).toBe(functions.length);
    });

    it('has its name, a level of logs and a namespace of metrics, without which it would have none', () => {
      for (const [id, { Properties }] of functions)
        expect(Object.keys(Object(Properties.Environment).Variables), id).toEqual(
          expect.arrayContaining(TELEMETRY),
        );
    });

    it("ends before its caller's timeout", () => {
      for (const [id, fn] of functions) {
        const timeout = Number(fn.Properties.Timeout);
        expect(timeout, id).toBeGreaterThan(0);
        expect(timeout, id).toBeLessThanOrEqual(900);
      }
      for (const [id, { Properties }] of all(template, 'AWS::ApiGateway::Method')) {
        const [, name] =
          /-(?:dev|staging|prod)-([a-z-]+)\/invocations/.exec(JSON.stringify(Properties)) ?? [];
        if (Object(Properties.Integration).Type !== 'AWS_PROXY') continue;
        const [, fn] = functions.find(([, each]) => nameOf(each) === name) ?? [];
        expect(Number(fn?.Properties.Timeout), id).toBeLessThan(29);
      }
    });

    it('has an alarm for its failures, or for those of the API that it serves', () => {
      const answers = new Set(
        all(template, 'AWS::ApiGateway::Method').flatMap(
          ([, { Properties }]) =>
            /-(?:dev|staging|prod)-([a-z-]+)\/invocations/.exec(JSON.stringify(Properties))?.[1] ?? [],
        ),
      );
      // An operator or a watched function invokes it, and gets the error.
      const answersItsCaller = new Set(['enrol', 'extract-content']);
      const isApiWatched = ofType(template, 'AWS::CloudWatch::Alarm').some(([, alarm]) =>
        JSON.stringify(alarm).includes('5XXError'),
      );
      expect(isApiWatched).toBe(true);
      const unnoticed = functions.filter(
        ([id, fn]) =>
          !isWatched(template, 'Errors', id) && !answers.has(nameOf(fn)) && !answersItsCaller.has(nameOf(fn)),
      );
      expect(unnoticed.map(([id]) => id)).toEqual([]);
    });
  });

  describe('a resource that holds data', () => {
    it.each(HOLDS_DATA)('is retained, if it is a %s and the stage keeps data', (type) => {
      for (const [id, { DeletionPolicy, UpdateReplacePolicy }] of all(template, type)) {
        const isKept = policy.keepsData && !EPHEMERAL.some((pattern) => pattern.test(id));
        const expected = isKept ? 'Retain' : 'Delete';
        expect([DeletionPolicy, UpdateReplacePolicy], id).toEqual([expected, expected]);
      }
    });

    it('is encrypted with a customer managed key that is rotated', () => {
      const KEYS = {
        'AWS::DynamoDB::GlobalTable': 'Replicas',
        'AWS::SQS::Queue': 'KmsMasterKeyId',
        'AWS::SecretsManager::Secret': 'KmsKeyId',
        'AWS::Logs::LogGroup': 'KmsKeyId',
        'AWS::SNS::Topic': 'KmsMasterKeyId',
        'AWS::Events::EventBus': 'KmsKeyIdentifier',
      };
      const [[key], ...otherKeys] = all(template, 'AWS::KMS::Key') as [Found, ...Found[]];
      expect(otherKeys).toEqual([]);
      // It receives the events for which the bus could not use its key.
      const WITHOUT_KEY = /^BusUnreadable/;
      for (const [type, name] of Object.entries(KEYS))
        for (const [id] of all(template, type)) {
          if (WITHOUT_KEY.test(id)) {
            expect(property(id, 'SqsManagedSseEnabled'), id).toBe(true);
            continue;
          }
          const used = references(property(id, name)).filter((each) => each !== 'AWS::Region');
          expect(used, id).toEqual([key]);
        }
      for (const [id, { Properties }] of all(template, 'AWS::KMS::Key'))
        expect(Properties.EnableKeyRotation, id).toBe(true);
    });

    it('is protected and restorable as a table, where the stage keeps data', () => {
      for (const [id, { Properties }] of all(template, 'AWS::DynamoDB::GlobalTable')) {
        const isKept = policy.keepsData && !EPHEMERAL.some((pattern) => pattern.test(id));
        expect(Properties, id).toMatchObject({
          BillingMode: 'PAY_PER_REQUEST',
          // A copy in another region, with a key of its own, is another decision.
          Replicas: [
            {
              Region: { Ref: 'AWS::Region' },
              DeletionProtectionEnabled: isKept,
              PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: isKept },
            },
          ],
          TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
        });
      }
    });

    it('is protected as a user pool, where the stage keeps data', () => {
      for (const [id, { Properties }] of all(template, 'AWS::Cognito::UserPool'))
        expect(Properties.DeletionProtection, id).toBe(policy.keepsData ? 'ACTIVE' : 'INACTIVE');
    });

    it("expires as a log group after the stage's retention", () => {
      for (const [id, { Properties }] of all(template, 'AWS::Logs::LogGroup'))
        expect(Properties.RetentionInDays, id).toBe(policy.logRetentionDays);
    });

    it('is, as the gateway’s execution log, the group that API Gateway writes to, created before it', () => {
      const [[api]] = all(template, 'AWS::ApiGateway::RestApi') as [Found];
      const groups = all(template, 'AWS::Logs::LogGroup').filter(([, { Properties }]) =>
        JSON.stringify(Properties.LogGroupName ?? '').includes('API-Gateway-Execution-Logs_'),
      );
      for (const [id, stage] of all(template, 'AWS::ApiGateway::Stage')) {
        const name = {
          'Fn::Join': ['', ['API-Gateway-Execution-Logs_', { Ref: api }, `/${stage.Properties.StageName}`]],
        };
        const group = groups.find(
          ([, { Properties }]) => JSON.stringify(Properties.LogGroupName) === JSON.stringify(name),
        );
        expect(group, id).toBeDefined();
        expect(Reflect.get(stage, 'DependsOn'), id).toContain(group?.[0]);
      }
    });

    it('outlives the stage as an account setting, with the resource that it names', () => {
      const kept = all(template, 'AWS::ApiGateway::Account').flatMap(([id, { Properties }]) => [
        id,
        ...references(Properties),
      ]);
      expect(kept).toHaveLength(2);
      for (const id of kept) expect(resources.get(id), id).toMatchObject({ DeletionPolicy: 'Retain' });
    });

    it('accepts messages by TLS alone as a topic', () => {
      const policies = all(template, 'AWS::SNS::TopicPolicy');
      for (const [id] of all(template, 'AWS::SNS::Topic')) {
        const said = policies
          .filter(([, { Properties }]) => references(Properties.Topics).includes(id))
          .flatMap(([, { Properties }]) => statementsIn(Properties.PolicyDocument));
        expect(said, id).toContainEqual(
          expect.objectContaining({
            effect: 'Deny',
            condition: { Bool: { 'aws:SecureTransport': 'false' } },
          }),
        );
      }
    });
  });
});
