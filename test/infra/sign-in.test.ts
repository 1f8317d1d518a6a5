import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { SignInEnvironment } from '../../functions/platform/config.ts';
import * as routes from '../../functions/sign-in/routes.ts';
import { SIGN_IN } from '../../lib/cloud/bundle.ts';
import { SIGN_IN_ROUTES } from '../../lib/cloud/sign-in.ts';
import { functionNamed, ofType, statementsOf, synthesize } from './synthesize.ts';

const template = synthesize();
const variablesOf = (of: ReturnType<typeof synthesize>, name: string) =>
  Object(functionNamed(of, name)[1].Properties.Environment).Variables;

describe('the functions of the sign-in', () => {
  it('are those that have a route, by the methods that they expect', () => {
    const served = SIGN_IN_ROUTES.map(({ name, method }) => ({ name, method }));
    expect(served.map(({ name }) => name)).toEqual([...SIGN_IN]);
    expect(Object.values(routes).map(({ name, method }) => ({ name, method }))).toEqual(served);
  });

  it.each(SIGN_IN)('%s may write its logs and do nothing else', (name) => {
    const [, fn] = functionNamed(template, name);
    expect(statementsOf(template, fn).flatMap(({ Action }) => Action)).toEqual([
      'logs:CreateLogStream',
      'logs:PutLogEvents',
    ]);
  });

  it.each(SIGN_IN)('%s knows the issuer, and nothing of tables or keys', (name) => {
    const variables = variablesOf(template, name);
    const ours = Object.keys(variables).filter((variable) => !variable.startsWith('POWERTOOLS_'));
    expect(ours.sort()).toEqual(Object.keys(SignInEnvironment.shape).sort());
    expect(variables).toMatchObject({
      OIDC_SCOPE: 'openid',
      DASHBOARD_ORIGIN: 'https://dashboard.example.com',
    });
  });

  it('ask another issuer for what it is asked for', () => {
    const other = synthesize({
      oidcIssuer: 'https://id.example.com',
      oidcAudience: 'dashboard',
      oidcScope: 'openid email offline_access',
      mailFrom: '',
    });
    expect(variablesOf(other, 'begin-sign-in')).toMatchObject({
      OIDC_ISSUER: 'https://id.example.com',
      OIDC_SCOPE: 'openid email offline_access',
    });
  });
});

describe('the user pool', () => {
  it('has pages to sign in at, whose address is its own', () => {
    template.hasResourceProperties('AWS::Cognito::UserPoolDomain', {
      Domain: { 'Fn::Join': ['', ['conversation-service-prod-', { Ref: 'AWS::AccountId' }]] },
    });
    synthesize({ signInDomainPrefix: 'acme-talks' }).hasResourceProperties('AWS::Cognito::UserPoolDomain', {
      Domain: 'acme-talks',
    });
  });

  it('sends people back to the dashboard and nowhere else, with a code alone', () => {
    template.hasResourceProperties('AWS::Cognito::UserPoolClient', {
      AllowedOAuthFlows: ['code'],
      AllowedOAuthScopes: ['openid'],
      CallbackURLs: ['https://dashboard.example.com/signed-in'],
      LogoutURLs: ['https://dashboard.example.com/'],
      GenerateSecret: false,
      EnableTokenRevocation: true,
      ExplicitAuthFlows: Match.arrayWith(['ALLOW_REFRESH_TOKEN_AUTH']),
    });
  });

  it('has none of it where there is no dashboard', () => {
    const without = synthesize({ dashboardOrigin: '', mailFrom: '' });
    expect(ofType(without, 'AWS::Cognito::UserPoolDomain')).toEqual([]);
    expect(variablesOf(without, 'begin-sign-in')).not.toHaveProperty('DASHBOARD_ORIGIN');
  });
});
