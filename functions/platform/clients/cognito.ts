import { CognitoIdentityProviderClient } from '@aws-sdk/client-cognito-identity-provider';
import { prepared } from './prepared.ts';
import { terms } from './terms.ts';

export const userPoolClient = (): CognitoIdentityProviderClient =>
  prepared(new CognitoIdentityProviderClient(terms()), 'cognito');
