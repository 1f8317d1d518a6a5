/**
 * Stands in for the SDK's default credential chain in the functions' bundles: Lambda gives credentials by environment, and
 * the chain's other sources (SSO, processes, instance metadata …) only cost load time there.
 */
export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';
