/**
 * Stands in for the SDK's default credential chain in the functions' bundles: Lambda gives credentials by
 * environment, and the chain's other sources (SSO, processes, instance metadata …) only cost load time there.
 */
export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';

/**
 * Stands in for the SDK's cache of endpoint discovery in the functions' bundles: no command of DynamoDB that
 * they send uses it.
 */
export class EndpointCache {}
