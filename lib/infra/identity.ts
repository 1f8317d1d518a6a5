import { Aws, Duration } from 'aws-cdk-lib';
import * as cognito from 'aws-cdk-lib/aws-cognito';
import { Construct } from 'constructs';
import type { SessionEnvironment, SignInEnvironment } from '../../functions/aws/config.ts';
import { acknowledge } from './acknowledgements.ts';
import type { Settings } from './settings.ts';
import { ServiceStack } from './stacks/service-stack.ts';

/** Every issuer supports this scope, and requires it to identify the user. */
const OPENID = 'openid';
/** Custom attributes in the pool's ID tokens. */
const CLAIMS = { organization: 'custom:organization', role: 'custom:role' };

/**
 * Users of a Cognito user pool, or of another OpenID Connect issuer in the settings, whose tokens must
 * contain an organization and a role.
 */
export class Identity extends Construct {
  /** For functions that accept sessions. */
  readonly environment: SessionEnvironment;
  /** For the sign-in functions. */
  readonly signInEnvironment: SignInEnvironment;
  readonly pool: cognito.UserPool | undefined;

  constructor(
    scope: Construct,
    id: string,
    {
      oidc,
      dashboard: site,
      signInDomainPrefix,
      mailFrom,
    }: Pick<Settings, 'oidc' | 'dashboard' | 'signInDomainPrefix' | 'mailFrom'>,
  ) {
    super(scope, id);
    const dashboard = site === undefined ? {} : { DASHBOARD_ORIGIN: site.origin };
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
    // Cognito cannot search custom attributes: an admin copies a user's organization into preferred_username.
    const { policy, removal } = ServiceStack.of(this);
    this.pool = new cognito.UserPool(this, 'Users', {
      // Operators add users to an organization; a user who signed up would have none.
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
      // Cognito itself sends 50 e-mails a day, from an address of its own (Developer Guide, Quotas).
      ...(mailFrom !== undefined && {
        email: cognito.UserPoolEmail.withSES({ fromEmail: mailFrom, sesRegion: Aws.REGION }),
      }),
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
      // Rotated on each use (RFC 9700, 2.2.2: client without a secret), with a grace period for lost
      // responses.
      refreshTokenRotationGracePeriod: Duration.seconds(60),
      readAttributes: new cognito.ClientAttributes()
        .withStandardAttributes({ email: true, emailVerified: true, fullname: true })
        .withCustomAttributes('organization', 'role'),
      // Users may write the client's writable attributes, which must exclude organization, role and
      // preferred_username.
      writeAttributes: new cognito.ClientAttributes().withStandardAttributes({ fullname: true }),
      ...(site === undefined
        ? { disableOAuth: true }
        : {
            oAuth: {
              flows: { authorizationCodeGrant: true },
              scopes: [cognito.OAuthScope.OPENID],
              callbackUrls: [`${site.origin}/signed-in`],
              logoutUrls: [`${site.origin}/`],
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
    // Alone it includes every attribute that the client may read; with another scope Cognito omits custom
    // ones.
    this.signInEnvironment = { ...this.environment, OIDC_SCOPE: OPENID };
    // Sign-in pages. A prefix is unique in a region across all accounts.
    if (site !== undefined)
      this.pool.addDomain('SignIn', {
        cognitoDomain: {
          domainPrefix: signInDomainPrefix ?? `conversation-service-${policy.stage}-${Aws.ACCOUNT_ID}`,
        },
      });
  }
}
