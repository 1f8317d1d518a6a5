import { describe, expect, it } from 'vitest';
import * as routes from '../../functions/api/sign-in/routes.ts';
import { SignInEnvironment } from '../../functions/aws/config.ts';
import { SIGN_IN } from '../../lib/infra/bundle.ts';
import { BARE, OTHER_ISSUER, SETTINGS } from './contexts.ts';
import { TELEMETRY } from './reading.ts';
import { functionNamed, ofType, statementsOf, synthesize } from './synthesize.ts';

const template = synthesize();
const variablesOf = (of: ReturnType<typeof synthesize>, name: string) =>
  Object(functionNamed(of, name)[1].Properties.Environment).Variables;

describe('the functions of the sign-in', () => {
  it('are invoked by the gateway at their paths, with the methods that they expect', () => {
    const resources = ofType(template, 'AWS::ApiGateway::Resource');
    const pathOf = (id: unknown): string => {
      const [, resource] = resources.find(([logicalId]) => logicalId === Object(id).Ref) ?? [];
      return resource === undefined
        ? ''
        : `${pathOf(resource.Properties.ParentId)}/${resource.Properties.PathPart}`;
    };
    const invoked = ofType(template, 'AWS::ApiGateway::Method').map(([, { Properties }]) => ({
      method: Properties.HttpMethod,
      path: pathOf(Properties.ResourceId),
      by: JSON.stringify(Object(Properties.Integration).Uri ?? ''),
    }));
    for (const { name, method, path } of Object.values(routes)) {
      const [caller, ...others] = invoked.filter(({ by }) => by.includes(`-${name}/`));
      expect(caller, name).toMatchObject({ method, path });
      expect(others).toEqual([]);
    }
    expect(Object.values(routes).map(({ path }) => path)).toEqual([
      '/session/sign-in',
      '/session',
      '/session/renewal',
      '/session',
    ]);
  });

  it.each(SIGN_IN)('%s may write its logs and do nothing else', (name) => {
    const [, fn] = functionNamed(template, name);
    expect(statementsOf(template, fn).flatMap(({ Action }) => Action)).toEqual([
      'logs:CreateLogStream',
      'logs:PutLogEvents',
    ]);
  });

  it.each(SIGN_IN)('%s has the issuer, and no tables or keys', (name) => {
    const variables = variablesOf(template, name);
    const ours = Object.keys(variables).filter((variable) => !TELEMETRY.includes(variable));
    expect(ours.sort()).toEqual(Object.keys(SignInEnvironment.shape).sort());
    expect(variables).toMatchObject({
      OIDC_SCOPE: 'openid',
      DASHBOARD_ORIGIN: 'https://dashboard.example.com',
    });
  });

  it('call another issuer as configured', () => {
    const other = synthesize(OTHER_ISSUER);
    expect(variablesOf(other, 'begin-sign-in')).toMatchObject({
      OIDC_ISSUER: 'https://id.example.com',
      OIDC_SCOPE: 'openid email offline_access',
    });
  });
});

describe('the user pool', () => {
  it('has sign-in pages, at a domain of its own', () => {
    template.hasResourceProperties('AWS::Cognito::UserPoolDomain', {
      Domain: { 'Fn::Join': ['', ['conversation-service-prod-', { Ref: 'AWS::AccountId' }]] },
    });
    synthesize(SETTINGS).hasResourceProperties('AWS::Cognito::UserPoolDomain', {
      Domain: 'acme-talks',
    });
  });

  it('redirects users to the dashboard only, with a code', () => {
    template.hasResourceProperties('AWS::Cognito::UserPoolClient', {
      AllowedOAuthFlows: ['code'],
      AllowedOAuthScopes: ['openid'],
      CallbackURLs: ['https://dashboard.example.com/signed-in'],
      LogoutURLs: ['https://dashboard.example.com/'],
      GenerateSecret: false,
      EnableTokenRevocation: true,
      RefreshTokenRotation: { Feature: 'ENABLED', RetryGracePeriodSeconds: 60 },
    });
  });

  it('has no client where there is no dashboard', () => {
    const without = synthesize(BARE);
    expect(ofType(without, 'AWS::Cognito::UserPoolDomain')).toEqual([]);
    expect(variablesOf(without, 'begin-sign-in')).not.toHaveProperty('DASHBOARD_ORIGIN');
  });
});
