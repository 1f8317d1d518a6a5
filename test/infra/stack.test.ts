import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { routes } from '../../functions/api/routes.ts';
import { type Route, settingsPath } from '../../functions/http/route.ts';
import { SIGN_IN, WORKERS } from '../../lib/infra/bundle.ts';
import { SIGN_IN_ROUTES } from '../../lib/infra/served-methods.ts';
import { LOWEST_LIMITS, OTHER_ISSUER, SETTINGS } from './contexts.ts';
import { ourFunctions } from './reading.ts';
import { functionNamed, ofType, statementsOf, synthesize } from './synthesize.ts';

const template = synthesize();
const functions = ourFunctions(template);

const nameOf = (fn: { Properties: Record<string, unknown> }): string =>
  Object(fn.Properties.Environment).Variables.FUNCTION_NAME;

describe('functions', () => {
  it('exist for each route, each worker, each part of the sign-in, and each part of the documentation', () => {
    const names = functions.map(([, fn]) => Object(fn.Properties.Environment).Variables.FUNCTION_NAME);
    const expected = [
      ...Object.values(routes).map(({ name }) => name),
      ...WORKERS,
      ...SIGN_IN,
      ...['read-openapi', 'docs', 'method-not-allowed'],
    ];
    expect(names.sort()).toEqual(expected.sort());
  });

  it.each(functions)('have no setting of the local run: %s', (_, fn) => {
    expect(JSON.stringify(fn)).not.toContain('LOOPBACK_RECEIVERS');
  });

  it('read the signing keys only if they return a secret or sign', () => {
    const [secret] =
      ofType(template, 'AWS::SecretsManager::Secret').find(([id]) => id.startsWith('SigningKeys')) ?? [];
    const readers = functions.filter(([, fn]) =>
      statementsOf(template, fn).some(
        (statement) =>
          statement.Action === 'secretsmanager:GetSecretValue' &&
          JSON.stringify(statement.Resource) === JSON.stringify({ Ref: secret }),
      ),
    );
    expect(readers.map(([, fn]) => nameOf(fn)).sort()).toEqual([
      'create-channel',
      'dispatch',
      // They sign again the requests that deliveries of a sandbox have sent.
      'list-channel-deliveries',
      'list-deliveries',
      'register-webhook',
    ]);
  });
});

describe('sessions', () => {
  const environmentOf = (name: string) =>
    functions
      .map(([, fn]) => Object(fn.Properties.Environment).Variables)
      .find((variables) => variables.FUNCTION_NAME === name);

  it.each(Object.values(routes))('$name has the issuer exactly when it accepts sessions', (route: Route) => {
    const takesSessions = route.role !== undefined || route.dashboard !== undefined;
    expect('OIDC_ISSUER' in environmentOf(route.name)).toBe(takesSessions);
  });

  it('no user can sign up, and no signed-in user can write organization or role', () => {
    template.hasResourceProperties('AWS::Cognito::UserPool', {
      AdminCreateUserConfig: { AllowAdminCreateUserOnly: true },
      DeletionProtection: 'ACTIVE',
    });
    const [[, client] = []] = ofType(template, 'AWS::Cognito::UserPoolClient');
    expect(client?.Properties.WriteAttributes).toEqual(['name']);
  });

  it('another issuer replaces the user pool', () => {
    const other = synthesize(OTHER_ISSUER);
    expect(ofType(other, 'AWS::Cognito::UserPool')).toEqual([]);
    other.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({
          OIDC_ISSUER: 'https://id.example.com',
          OIDC_AUDIENCE: 'dashboard',
          OIDC_ORGANIZATION_CLAIM: 'custom:organization',
        }),
      },
    });
  });
});

describe('the rate limiter', () => {
  it('has its limits from the settings, in every endpoint function', () => {
    const limited = synthesize(SETTINGS);
    const variables = ofType(limited, 'AWS::Lambda::Function')
      .map(([, fn]) => Object(fn.Properties.Environment).Variables)
      .filter((its) => 'RATE_TABLE' in its && 'RATE_LIMIT_SANDBOX' in its);
    expect(variables).toHaveLength(Object.keys(routes).length);
    for (const its of variables)
      expect([its.RATE_LIMIT_SANDBOX, its.RATE_LIMIT_STANDARD, its.RATE_LIMIT_SCALE]).toEqual([
        '5',
        '50',
        '500',
      ]);
  });

  it("has a budget for all visitors of an organization, by default as large as the organization's own", () => {
    const budgetsOf = (context: object) => {
      const [, fn] = functionNamed(synthesize({ ...context }), 'read-widget-messages');
      const its = Object(fn.Properties.Environment).Variables;
      return [its.VISITOR_LIMIT_SANDBOX, its.VISITOR_LIMIT_STANDARD, its.VISITOR_LIMIT_SCALE];
    };
    expect(budgetsOf({})).toEqual(['60', '600', '6000']);
    expect(budgetsOf(LOWEST_LIMITS)).toEqual(['1', '1', '1']);
    expect(budgetsOf(SETTINGS)).toEqual(['9', '50', '90']);
  });

  it('has an alarm for its failures, in any function', () => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'ConversationService/prod',
      MetricName: 'RateLimiterFailures',
      Dimensions: [{ Name: 'service', Value: 'api' }],
      // A few at a cold start cause no alarm.
      Threshold: 10,
      EvaluationPeriods: 2,
      Statistic: 'Sum',
    });
  });
});

describe('the gateway', () => {
  const methods = ofType(template, 'AWS::ApiGateway::Method').map(([, method]) => method.Properties);

  it('has every route, answers to other methods on each path, and an answer to unknown paths', () => {
    const all: Route[] = Object.values(routes);
    const second = all.flatMap((route) => settingsPath(route) ?? []);
    const signIn = SIGN_IN_ROUTES.map(({ path }) => path);
    const paths = new Set<string>([...all.map(({ path }) => path), ...second, ...signIn]);
    const documentation = ['/openapi.json', '/docs', '/docs/{file}'];
    const proxied = methods.filter((method) => Object(method.Integration).Type === 'AWS_PROXY');
    const [others, served] = [true, false].map((isAny) =>
      proxied.filter(({ HttpMethod }) => (HttpMethod === 'ANY') === isAny),
    );
    expect(served).toHaveLength(all.length + second.length + signIn.length + documentation.length);
    expect(others).toHaveLength(paths.size + documentation.length);
    for (const { Integration } of others ?? [])
      expect(JSON.stringify(Object(Integration).Uri)).toContain('-method-not-allowed/invocations');
    const unknown = methods.filter((method) => method.HttpMethod === 'ANY' && !proxied.includes(method));
    for (const { Integration } of unknown)
      expect(Object(Integration).IntegrationResponses).toMatchObject([{ StatusCode: '404' }]);
  });

  it('has a stage named like the first part of the public path', () => {
    template.hasResourceProperties('AWS::ApiGateway::Stage', { StageName: 'api' });
  });

  it.each(ofType(template, 'AWS::ApiGateway::GatewayResponse'))(
    'answers %s in the error envelope, with an id that a client cannot choose',
    (_, response) => {
      const { ResponseParameters, ResponseTemplates } = Object(response.Properties);
      expect(ResponseParameters['gatewayresponse.header.Request-Id']).toBe('context.extendedRequestId');
      const body = ResponseTemplates['application/json'].replace('$context.error.messageString', '"why"');
      expect(JSON.parse(body)).toEqual({
        error: {
          type: expect.stringMatching(/^[A-Z_]+$/),
          message: expect.any(String),
          requestId: '$context.extendedRequestId',
        },
      });
    },
  );

  it('has both default answers, so that none of its own bodies is left', () => {
    const types = ofType(template, 'AWS::ApiGateway::GatewayResponse').map(
      ([, it]) => it.Properties.ResponseType,
    );
    expect(types).toEqual(expect.arrayContaining(['DEFAULT_4XX', 'DEFAULT_5XX']));
  });
});

describe('settings', () => {
  it('have the specification’s values by default', () => {
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({
          RETRY_BASE_SECONDS: '30',
          RETRY_CAP_SECONDS: '3600',
          ATTEMPT_TIMEOUT_SECONDS: '10',
          GRACE_SECONDS: '900',
        }),
      },
    });
  });
});
