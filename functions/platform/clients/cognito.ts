import { CognitoIdentityProviderClient } from '@aws-sdk/client-cognito-identity-provider';
import { terms } from './terms.ts';

export const userPoolClient = (): CognitoIdentityProviderClient => new CognitoIdentityProviderClient(terms());
