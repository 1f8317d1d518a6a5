import { describe, expect, it } from 'vitest';
import { routes } from '../../functions/api/routes.ts';
import * as signIn from '../../functions/api/sign-in/routes.ts';
import { SignInEnvironment } from '../../functions/aws/config.ts';
import { type Route, settingsPath } from '../../functions/http/route.ts';
import { ACCESS_LOG } from '../../lib/infra/api.ts';
import { SIGN_IN, WORKERS } from '../../lib/infra/bundle.ts';
import { SIGN_IN_ROUTES } from '../../lib/infra/served-methods.ts';
import { resourcesOf } from '../../lib/operate/outputs.ts';
import type { Release, Template } from '../../lib/release-check/assembly.ts';
import { checkUpdate } from '../../lib/release-check/rules.ts';
import { TABLE_DEFINITIONS, type TableDefinition, type TableName } from '../table-definitions.ts';
import { ENV, EVERYTHING, FEWEST_REQUESTS, OTHER_ISSUER, OWN_KEY, type TestContext } from './contexts.ts';
import { all, nameOf, ourFunctions, references, TELEMETRY, watchedBy } from './reading.ts';
import {
  functionNamed,
  invokes,
  joined,
  methodsOf,
  ofType,
  serviceIn,
  synthesize,
  uncheckedApp,
} from './synthesize.ts';

const template = synthesize();
const functions = ourFunctions(template);
const environmentOf = (name: string) =>
  Object(functionNamed(template, name)[1].Properties.Environment).Variables;

describe('functions', () => {
  it('exist for each route, each worker, each part of the sign-in, and each part of the documentation', () => {
    const names = functions.map(([, fn]) => nameOf(fn));
    const expected = [
      ...Object.values(routes).map(({ name }) => name),
      ...WORKERS,
      ...SIGN_IN,
      ...['read-openapi', 'docs', 'method-not-allowed'],
    ];
    expect(names.sort()).toEqual(expected.sort());
  });

  it('have no setting of the local run', () => {
    expect(JSON.stringify(functions)).not.toContain('LOOPBACK_RECEIVERS');
  });

  it.each(Object.values(routes))('$name has the issuer exactly when it accepts sessions', (route: Route) => {
    const takesSessions = route.role !== undefined || route.dashboard !== undefined;
    expect('OIDC_ISSUER' in environmentOf(route.name)).toBe(takesSessions);
  });

  it.each(SIGN_IN)('%s of the sign-in has the issuer, and no tables or keys', (name) => {
    const ours = Object.keys(environmentOf(name)).filter((variable) => !TELEMETRY.includes(variable));
    expect(ours.sort()).toEqual(Object.keys(SignInEnvironment.shape).sort());
  });

  it("have reserved concurrency that equals that of a function's queues", () => {
    const [id, { Properties }] = functionNamed(template, 'dispatch');
    const used = ofType(template, 'AWS::Lambda::EventSourceMapping')
      .filter(([, mapping]) => invokes(template, mapping.Properties.FunctionName, id))
      .map(([, mapping]) => Number(Object(mapping.Properties.ScalingConfig).MaximumConcurrency));
    expect(Properties.ReservedConcurrentExecutions).toBe(used.reduce((sum, each) => sum + each, 0));
  });
});

describe('the gateway', () => {
  const methods = ofType(template, 'AWS::ApiGateway::Method').map(([, method]) => method.Properties);

  it('has every route, answers to other methods on each path, and an answer to unknown paths', () => {
    const known: Route[] = Object.values(routes);
    const second = known.flatMap((route) => settingsPath(route) ?? []);
    const ofSignIn = SIGN_IN_ROUTES.map(({ path }) => path);
    const paths = new Set<string>([...known.map(({ path }) => path), ...second, ...ofSignIn]);
    const documentation = ['/openapi.json', '/docs', '/docs/{file}'];
    const proxied = methods.filter((method) => Object(method.Integration).Type === 'AWS_PROXY');
    const [others, served] = [true, false].map((isAny) =>
      proxied.filter(({ HttpMethod }) => (HttpMethod === 'ANY') === isAny),
    );
    expect(served).toHaveLength(known.length + second.length + ofSignIn.length + documentation.length);
    expect(others).toHaveLength(paths.size + documentation.length);
    for (const { Integration } of others ?? [])
      expect(JSON.stringify(Object(Integration).Uri)).toContain('-method-not-allowed/invocations');
    const unknown = methods.filter((method) => method.HttpMethod === 'ANY' && !proxied.includes(method));
    for (const { Integration } of unknown)
      expect(Object(Integration).IntegrationResponses).toMatchObject([{ StatusCode: '404' }]);
  });

  it('invokes the functions of the sign-in at their paths, with the methods that they expect', () => {
    for (const { name, method, path } of Object.values(signIn)) {
      const [caller, ...others] = methodsOf(template).filter(({ uri }) => uri.includes(`-${name}/`));
      expect(caller, name).toMatchObject({ method, path });
      expect(others).toEqual([]);
    }
    const paths = Object.values(signIn).map(({ path }) => path);
    expect(paths).toEqual(['/session/sign-in', '/session', '/session/renewal', '/session']);
  });

  it('logs no field of a request that a caller chose', () => {
    const variables = ACCESS_LOG.match(/\$context\.[\w.]+\w/g) ?? [];
    expect(variables.map((each) => each.slice('$context.'.length)).toSorted()).toEqual([
      'extendedRequestId',
      'httpMethod',
      'identity.sourceIp',
      'integrationLatency',
      'requestTime',
      // The template's, not the caller's.
      'resourcePath',
      'responseLatency',
      'responseLength',
      'status',
    ]);
    // No other placeholder may remain.
    expect(ACCESS_LOG.match(/\$(?!context\.)/g)).toBeNull();
  });
});

it('a stage has the account, region, qualifier and permissions boundary of its file', () => {
  const app = uncheckedApp({ env: ENV, bootstrap: { qualifier: 'acme', permissionsBoundary: 'limits' } });
  serviceIn(app);
  const roles = ofType(joined(app), 'AWS::IAM::Role');
  expect(app.synth().getStackByName('ConversationService-prod')).toMatchObject({
    environment: ENV,
    assumeRoleArn: expect.stringContaining('/cdk-acme-deploy-role-123456789012-eu-central-1'),
  });
  expect(roles.length).toBeGreaterThan(80);
  for (const [id, { Properties }] of roles)
    expect(JSON.stringify(Properties.PermissionsBoundary), id).toContain(':policy/limits');
});

it('invitations come from the sender of e-mail, where there is one', () => {
  const mailOf = (context: TestContext) =>
    ofType(synthesize(context), 'AWS::Cognito::UserPool').map(([, { Properties }]) => [
      Object(Properties.EmailConfiguration).From,
      JSON.stringify(Properties.EmailConfiguration)?.includes(':identity/notifications@mail.example.com'),
    ]);
  expect(mailOf({})).toEqual([['notifications@mail.example.com', true]]);
  expect(mailOf(FEWEST_REQUESTS)).toEqual([[undefined, undefined]]);
});

it('the dashboard can be created again in another region of the account, where CloudFront is shared', () => {
  for (const [type, name] of [
    ['AWS::CloudFront::Function', 'Name'],
    ['AWS::CloudFront::ResponseHeadersPolicy', 'Name'],
    ['AWS::CloudFront::OriginAccessControl', 'Name'],
  ] as const)
    for (const [id, { Properties }] of all(template, type)) {
      const { ResponseHeadersPolicyConfig, OriginAccessControlConfig } = Object(Properties);
      const named = ResponseHeadersPolicyConfig ?? OriginAccessControlConfig ?? Properties;
      expect(references(Object(named)[name]), id).toEqual(['AWS::Region']);
    }
});

/** No setting is among these, and to compare the hundreds of them takes seconds. */
const WITH_EACH_FUNCTION = /:(IAM|Logs|CodeDeploy|CloudWatch):|Lambda::(Version|Alias|Permission)/;

describe('releases', () => {
  it("deploy new code of the delivery engine at once, regardless of alarms, on the operator's request", () => {
    const groups = ofType(synthesize(OWN_KEY), 'AWS::CodeDeploy::DeploymentGroup');
    expect(groups).toHaveLength(2);
    for (const [, { Properties }] of groups) {
      expect(JSON.stringify(Properties.DeploymentConfigName)).toContain('LambdaAllAtOnce');
      expect(Object(Properties.AlarmConfiguration).Enabled).toBe(false);
    }
  });

  it('can be undone by the alarms of what callers of the API see', () => {
    const arns = template.toJSON().Outputs.ReleaseAlarmArns.Value;
    const metrics = ofType(template, 'AWS::CloudWatch::Alarm')
      .filter(([id]) => references(arns).includes(id))
      .flatMap(([, alarm]) => watchedBy(alarm).map(({ metric }) => metric));
    expect(metrics).toEqual(expect.arrayContaining(['5XXError', 'Latency']));
  });

  it.each<[string[], TestContext]>([
    [['alarmEmail', 'dashboard', 'domain'], {}],
    [['alarmEmail', 'dashboard', 'domain', 'mailFrom', 'user pool'], OTHER_ISSUER],
  ])('are refused that remove the settings %j, and a rollback that does is reported', (names, changes) => {
    const releaseWith = (context: TestContext): Release => {
      const { Resources, ...rest } = synthesize(context).toJSON() as Template;
      const kept = Object.entries(Resources).filter(([, { Type }]) => !WITH_EACH_FUNCTION.test(Type));
      return new Map([['Service', { ...rest, Resources: Object.fromEntries(kept) }]]);
    };
    const [whole, rest] = [releaseWith(EVERYTHING), releaseWith(changes)];
    const removed = (from: Release, to: Release, direction: 'deploy' | 'roll back') =>
      checkUpdate(from, to, direction, {})
        .filter(({ rule }) => rule === 'setting-removed')
        .map(({ level, resources }) => [level, ...resources.toSorted()]);
    expect(removed(whole, rest, 'deploy')).toEqual([['error', ...names]]);
    expect(removed(whole, rest, 'roll back')).toEqual([['warning', ...names]]);
    expect(removed(rest, whole, 'deploy')).toEqual([]);
  });
});

/** The command works with the outputs alone, so a missing one cannot be operated. */
describe("the operator's command", () => {
  const outputs = template.toJSON().Outputs as Record<string, { Value: unknown }>;
  const values = new Set(Object.values(outputs).map(({ Value }) => JSON.stringify(Value)));

  it.each(['AWS::DynamoDB::GlobalTable', 'AWS::SQS::Queue', 'AWS::SecretsManager::Secret'])(
    'has the outputs of every %s',
    (type) => {
      for (const [id] of all(template, type)) expect(values, id).toContain(JSON.stringify({ Ref: id }));
    },
  );

  it('finds the names that it uses in the outputs', () => {
    const { tables, queues, deadLetters, keys } = resourcesOf(
      Object.fromEntries(Object.keys(outputs).map((name) => [name, name])),
    );
    const named = ['service', 'outbox', 'deliveries', 'knowledge'];
    expect([...tables.keys()]).toEqual(expect.arrayContaining(named));
    expect([...queues.keys()]).toEqual(expect.arrayContaining(['fresh', 'retry', 'slow', 'stalled']));
    expect([...keys.keys()].toSorted()).toEqual(['cursor', 'signing']);
    // A function processes these. The others wait for the operator, who can redrive them unless they come
    // from the bus itself.
    const processed = ['delivery', 'fan-outs', 'publications'];
    expect([...deadLetters.keys()]).toEqual(expect.arrayContaining(processed));
    const forPeople = [...deadLetters.keys()].filter((name) => !processed.includes(name));
    expect(forPeople.filter((name) => !queues.has(name))).toEqual(['unreadable']);
  });
});

it("the tables of the contract tests have the keys, indexes and streams of the stack's", () => {
  const inStack = all(template, 'AWS::DynamoDB::GlobalTable').map(
    ([id, { Properties }]): [TableName, TableDefinition] => {
      const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, StreamSpecification } =
        Properties as unknown as TableDefinition;
      // `TablesOutboxTable` with its hash.
      const [, name = ''] = /^Tables(\w+?)Table[0-9A-F]{8}$/.exec(id) ?? [];
      return [
        name.toLowerCase() as TableName,
        {
          AttributeDefinitions,
          KeySchema,
          GlobalSecondaryIndexes,
          // A stream is implicit in a template that names a view type, and explicit in the API.
          StreamSpecification: StreamSpecification && { ...StreamSpecification, StreamEnabled: true },
        },
      ];
    },
  );
  expect(Object.fromEntries(inStack)).toEqual(TABLE_DEFINITIONS);
});
