/**
 * Replaces the SDK's credential chain in bundles: Lambda sets credentials in the environment, and the other
 * sources (SSO, processes, instance metadata …) cost load time.
 */
export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';

/** Replaces the SDK's cache for endpoint discovery in bundles, which no used DynamoDB command needs. */
export class EndpointCache {}
