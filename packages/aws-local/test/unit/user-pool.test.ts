import { describe, expect, it } from 'vitest';
import { LocalRunError } from '../../src/errors.ts';
import { provisionUserPool, userPoolOf } from '../../src/provision/user-pool.ts';
import { References } from '../../src/template/references.ts';
import { parseTemplate, templateOf } from '../../src/template/template.ts';

const ISSUER = 'http://localhost:20000';

const aPool = (Properties = {}) => ({ Type: 'AWS::Cognito::UserPool', Properties });
const aClient = (properties = {}) => ({
  Type: 'AWS::Cognito::UserPoolClient',
  Properties: { UserPoolId: { Ref: 'Users' }, ...properties },
});

function provisioned(resources: Record<string, { Type: string }>) {
  const { resources: parsed, outputs } = parseTemplate({ Resources: resources });
  const template = templateOf('Service', parsed, outputs);
  const references = new References('Service');
  const pool = userPoolOf(template);
  return { references, pool: pool && provisionUserPool(template, pool, references, ISSUER) };
}

describe('a user pool', () => {
  it("and its client have the ids of Cognito's form", () => {
    const { references } = provisioned({ Users: aPool(), Dashboard: aClient() });
    const resolve = (value: unknown) => references.resolve(value);
    const attribute = (name: string) => resolve({ 'Fn::GetAtt': ['Users', name] });
    expect(resolve({ Ref: 'Users' })).toBe('us-east-1_Users');
    expect(attribute('UserPoolId')).toBe('us-east-1_Users');
    expect(attribute('Arn')).toBe('arn:aws:cognito-idp:us-east-1:000000000000:userpool/us-east-1_Users');
    expect(attribute('ProviderURL')).toBe(ISSUER);
    expect(attribute('ProviderName')).toBe('localhost:20000');
    expect(resolve({ Ref: 'Dashboard' })).toBe('Dashboard');
    expect(resolve({ 'Fn::GetAtt': ['Dashboard', 'ClientId'] })).toBe('Dashboard');
  });

  it('has the settings of the template', () => {
    const { pool } = provisioned({
      Users: aPool({
        Schema: [
          {
            Name: 'role',
            AttributeDataType: 'String',
            Mutable: true,
            StringAttributeConstraints: { MinLength: '5', MaxLength: '6' },
          },
          { Name: 'team', AttributeDataType: 'String' },
          { Name: 'email', Required: true, Mutable: true },
        ],
      }),
      Dashboard: aClient({
        AllowedOAuthFlows: ['code'],
        AllowedOAuthFlowsUserPoolClient: true,
        AllowedOAuthScopes: ['openid'],
        CallbackURLs: ['http://localhost:3000/signed-in'],
        LogoutURLs: ['http://localhost:3000/'],
        ReadAttributes: ['email', 'custom:role'],
        EnableTokenRevocation: false,
        RefreshTokenRotation: { Feature: 'ENABLED', RetryGracePeriodSeconds: 60 },
        IdTokenValidity: 30,
        AccessTokenValidity: 900,
        RefreshTokenValidity: 12,
        TokenValidityUnits: { IdToken: 'minutes', AccessToken: 'seconds', RefreshToken: 'hours' },
      }),
    });
    expect(pool).toEqual({
      id: 'us-east-1_Users',
      clientId: 'Dashboard',
      customAttributes: new Map([
        ['custom:role', { minLength: 5, maxLength: 6 }],
        ['custom:team', { minLength: 0, maxLength: 2048 }],
      ]),
      readAttributes: ['email', 'custom:role'],
      scopes: ['openid'],
      callbackUrls: ['http://localhost:3000/signed-in'],
      logoutUrls: ['http://localhost:3000/'],
      revocation: false,
      rotation: true,
      lifetimes: { idToken: 1800, accessToken: 900, refreshToken: 43_200 },
    });
  });

  it('has the defaults of Cognito for missing settings', () => {
    const { pool } = provisioned({ Users: aPool(), Dashboard: aClient({ IdTokenValidity: 0 }) });
    expect(pool?.lifetimes).toEqual({ idToken: 3600, accessToken: 3600, refreshToken: 30 * 86_400 });
    expect(pool?.revocation).toBe(true);
    expect(pool?.rotation).toBe(false);
    expect(pool?.readAttributes).toContain('email');
    expect(pool?.readAttributes.filter((name) => name.startsWith('custom:'))).toEqual([]);
  });

  it('counts in hours and days where the template names no unit', () => {
    const { pool } = provisioned({
      Users: aPool(),
      Dashboard: aClient({ IdTokenValidity: 2, AccessTokenValidity: 3, RefreshTokenValidity: 4 }),
    });
    expect(pool?.lifetimes).toEqual({ idToken: 7200, accessToken: 10_800, refreshToken: 345_600 });
  });

  it('has no redirect when the client does not use the sign-in page', () => {
    const { pool } = provisioned({
      Users: aPool(),
      Dashboard: aClient({ AllowedOAuthFlowsUserPoolClient: false, CallbackURLs: ['https://example.com'] }),
    });
    expect(pool).toMatchObject({ scopes: [], callbackUrls: [], logoutUrls: [] });
  });

  it('may be missing', () => {
    expect(provisioned({}).pool).toBeUndefined();
  });

  it.each([
    [{ One: aPool(), Two: aPool() }, 'The local run takes a template with one user pool at most'],
    [{ Users: aPool() }, 'Users (AWS::Cognito::UserPool): the local run takes a user pool with one client'],
    [
      { Users: aPool(), One: aClient(), Two: aClient() },
      'Users (AWS::Cognito::UserPool): the local run takes a user pool with one client',
    ],
    [
      { Users: aPool({ LambdaConfig: { PreTokenGeneration: 'arn' } }), Dashboard: aClient() },
      'Users (AWS::Cognito::UserPool): the local run does not know the property LambdaConfig',
    ],
    [
      { Users: aPool(), Dashboard: aClient({ GenerateSecret: true }) },
      'Dashboard (AWS::Cognito::UserPoolClient): the local run knows the property GenerateSecret only as false, not as true',
    ],
    [
      { Users: aPool(), Dashboard: aClient({ AllowedOAuthFlows: ['implicit', 'code'] }) },
      'Dashboard (AWS::Cognito::UserPoolClient): the local run knows the property AllowedOAuthFlows[0] only as "code", not as "implicit"',
    ],
    [
      { Users: aPool(), Dashboard: aClient({ SupportedIdentityProviders: ['Google'] }) },
      'Dashboard (AWS::Cognito::UserPoolClient): the local run knows the property SupportedIdentityProviders[0] only as "COGNITO", not as "Google"',
    ],
    [
      { Users: aPool(), Dashboard: aClient({ UserPoolId: { Ref: 'Elsewhere' } }) },
      'The local run has nothing to stand for a reference to Elsewhere',
    ],
  ])('is refused when the local run does not support it (%#)', (resources, message) => {
    expect(() => provisioned(resources)).toThrow(new LocalRunError(message));
  });
});
