import { applied, inert, list, object, oneOf, type Properties } from './shapes.ts';

const messages = inert('there is no sign-up and no e-mail here');
const ownUsers = inert('the users here are those of the local run, which the sign-in page names');
const tags = inert('nothing here reads tags or descriptions');

/** Identity part of `supported`. */
export const supportedIdentity: Readonly<Record<string, Properties>> = {
  'AWS::Cognito::UserPool': {
    Schema: list(
      object({
        Name: applied,
        AttributeDataType: oneOf('String'),
        StringAttributeConstraints: object({ MinLength: applied, MaxLength: applied }),
        Mutable: ownUsers,
        Required: ownUsers,
      }),
    ),
    UsernameAttributes: list(oneOf('email')),
    UsernameConfiguration: object({ CaseSensitive: oneOf(false) }),
    AccountRecoverySetting: messages,
    AdminCreateUserConfig: messages,
    AutoVerifiedAttributes: messages,
    EmailConfiguration: messages,
    EmailVerificationMessage: messages,
    EmailVerificationSubject: messages,
    SmsAuthenticationMessage: messages,
    SmsConfiguration: messages,
    SmsVerificationMessage: messages,
    UserAttributeUpdateSettings: messages,
    VerificationMessageTemplate: messages,
    DeletionProtection: inert('deleting the state directory deletes what is known of the users'),
    DeviceConfiguration: ownUsers,
    EnabledMfas: ownUsers,
    MfaConfiguration: ownUsers,
    Policies: ownUsers,
    UserPoolAddOns: inert('accounts of this machine need no threat protection'),
    UserPoolTier: inert('there is nothing to pay for'),
    UserPoolName: tags,
    UserPoolTags: tags,
  },
  'AWS::Cognito::UserPoolDomain': {
    Domain: inert('the sign-in page is where the identity provider is'),
    UserPoolId: applied,
    ManagedLoginVersion: inert('the sign-in page here has a look of its own'),
  },
  'AWS::Cognito::UserPoolClient': {
    UserPoolId: applied,
    AllowedOAuthFlowsUserPoolClient: applied,
    AllowedOAuthFlows: list(oneOf('code')),
    AllowedOAuthScopes: applied,
    CallbackURLs: applied,
    LogoutURLs: applied,
    ReadAttributes: applied,
    GenerateSecret: oneOf(false),
    SupportedIdentityProviders: list(oneOf('COGNITO')),
    EnableTokenRevocation: applied,
    RefreshTokenRotation: object({
      Feature: applied,
      RetryGracePeriodSeconds: inert('an answer does not get lost on the way to this machine'),
    }),
    AccessTokenValidity: applied,
    IdTokenValidity: applied,
    RefreshTokenValidity: applied,
    TokenValidityUnits: object({ AccessToken: applied, IdToken: applied, RefreshToken: applied }),
    AuthSessionValidity: inert('the sign-in page waits an hour'),
    EnablePropagateAdditionalUserContextData: inert('accounts of this machine need no threat protection'),
    ExplicitAuthFlows: inert('people sign in at the page, and not by calls of the SDK'),
    PreventUserExistenceErrors: inert('the sign-in page names the users anyway'),
    WriteAttributes: inert('attributes do not change here'),
    ClientName: tags,
  },
};
