import { CognitoIdentityProviderClient } from '@aws-sdk/client-cognito-identity-provider';
import { terms } from './terms.ts';
import { countingThrottles } from './throttles.ts';

export const userPoolClient = (): CognitoIdentityProviderClient =>
  countingThrottles(new CognitoIdentityProviderClient(terms()), 'cognito');
