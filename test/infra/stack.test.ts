import { describe, expect, it } from 'vitest';
import { routes } from '../../functions/api/routes.ts';
import { type Route, settingsPath } from '../../functions/http/route.ts';
import { SIGN_IN, WORKERS } from '../../lib/infra/bundle.ts';
import { SIGN_IN_ROUTES } from '../../lib/infra/served-methods.ts';
import { ENV } from './contexts.ts';
import { nameOf, ourFunctions } from './reading.ts';
import { joined, ofType, serviceIn, synthesize, uncheckedApp } from './synthesize.ts';

const template = synthesize();
const functions = ourFunctions(template);

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

  it.each(functions)('have no setting of the local run: %s', (_, fn) => {
    expect(JSON.stringify(fn)).not.toContain('LOOPBACK_RECEIVERS');
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
