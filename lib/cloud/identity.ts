import { Aws, Duration } from 'aws-cdk-lib';
import * as cognito from 'aws-cdk-lib/aws-cognito';
import { Construct } from 'constructs';
import type { SessionEnvironment, SignInEnvironment } from '../../functions/platform/config.ts';
import { acknowledge } from './acknowledgements.ts';
import type { Settings } from './settings.ts';
import { ServiceStack } from './stacks/service-stack.ts';

/** Every issuer knows this scope, and without it none says who the user is. */
const OPENID = 'openid';
/** Custom attributes of the pool, as its ID tokens name them. */
const CLAIMS = { organization: 'custom:organization', role: 'custom:role' };

/**
 * Who people are: a Cognito user pool, or another OpenID Connect issuer that the settings name, whose tokens
 * must then carry an organization and a role.
 */
export class Identity extends Construct {
  /** What the functions that take sessions have to know. */
  readonly environment: SessionEnvironment;
  /** What those that sign people in have to know. */
  readonly signInEnvironment: SignInEnvironment;
  readonly pool: cognito.UserPool | undefined;

  constructor(
    scope: Construct,
    id: string,
    {
      oidc,
      dashboardOrigin,
      signInDomainPrefix,
    }: Pick<Settings, 'oidc' | 'dashboardOrigin' | 'signInDomainPrefix'>,
  ) {
    super(scope, id);
    const dashboard = dashboardOrigin === undefined ? {} : { DASHBOARD_ORIGIN: dashboardOrigin };
    if (oidc !== undefined) {
      this.environment = {
        OIDC_ISSUER: oidc.issuer,
        OIDC_AUDIENCE: oidc.audience,
        OIDC_ORGANIZATION_CLAIM: oidc.organizationClaim ?? CLAIMS.organization,
        OIDC_ROLE_CLAIM: oidc.roleClaim ?? CLAIMS.role,
        ...dashboard,
      };
      this.signInEnvironment = { ...this.environment, OIDC_SCOPE: oidc.scope ?? OPENID };
      return;
    }
    // Cognito finds users by few attributes, and by none of our own: who adds one writes his organization
    // into preferred_username as well.
    const { policy, removal } = ServiceStack.of(this);
    this.pool = new cognito.UserPool(this, 'Users', {
      // People are added to an organization by those who run it; who signs up by himself has none.
      selfSignUpEnabled: false,
      signInAliases: { email: true },
      autoVerify: { email: true },
      customAttributes: {
        organization: new cognito.StringAttribute({ minLen: 36, maxLen: 36, mutable: true }),
        role: new cognito.StringAttribute({ minLen: 5, maxLen: 6, mutable: true }),
      },
      passwordPolicy: {
        minLength: 12,
        requireDigits: true,
        requireLowercase: true,
        requireSymbols: true,
        requireUppercase: true,
      },
      mfa: cognito.Mfa.OPTIONAL,
      mfaSecondFactor: { otp: true, sms: false },
      accountRecovery: cognito.AccountRecovery.EMAIL_ONLY,
      deletionProtection: policy.keepsData,
      removalPolicy: removal,
    });
    acknowledge(this.pool, {
      COG2: 'A second factor is offered to everyone; to require it is for the organization that signs in to decide.',
      COG8: 'Threat protection needs the Plus tier, priced per user; the account that deploys may choose it.',
    });
    const client = this.pool.addClient('Dashboard', {
      generateSecret: false,
      authFlows: { userSrp: true },
      preventUserExistenceErrors: true,
      enableTokenRevocation: true,
      idTokenValidity: Duration.hours(1),
      accessTokenValidity: Duration.hours(1),
      refreshTokenValidity: Duration.days(30),
      // Of a client without a secret each is good once (RFC 9700, 2.2.2); for so long more than once, since
      // answers get lost.
      refreshTokenRotationGracePeriod: Duration.seconds(60),
      readAttributes: new cognito.ClientAttributes()
        .withStandardAttributes({ email: true, emailVerified: true, fullname: true })
        .withCustomAttributes('organization', 'role'),
      // Users may write the attributes that the client may: organization, role and preferred_username must
      // not be among them.
      writeAttributes: new cognito.ClientAttributes().withStandardAttributes({ fullname: true }),
      ...(dashboardOrigin === undefined
        ? { disableOAuth: true }
        : {
            oAuth: {
              flows: { authorizationCodeGrant: true },
              scopes: [cognito.OAuthScope.OPENID],
              callbackUrls: [`${dashboardOrigin}/signed-in`],
              logoutUrls: [`${dashboardOrigin}/`],
            },
          }),
    });
    this.environment = {
      OIDC_ISSUER: this.pool.userPoolProviderUrl,
      OIDC_AUDIENCE: client.userPoolClientId,
      OIDC_ORGANIZATION_CLAIM: CLAIMS.organization,
      OIDC_ROLE_CLAIM: CLAIMS.role,
      ...dashboard,
    };
    // Alone it stands for every attribute that the client may read; beside another scope Cognito leaves our
    // own ones out.
    this.signInEnvironment = { ...this.environment, OIDC_SCOPE: OPENID };
    // The sign-in pages. A prefix is unique in a region, over all accounts.
    if (dashboardOrigin !== undefined)
      this.pool.addDomain('SignIn', {
        cognitoDomain: {
          domainPrefix: signInDomainPrefix ?? `conversation-service-${policy.stage}-${Aws.ACCOUNT_ID}`,
        },
      });
  }
}
