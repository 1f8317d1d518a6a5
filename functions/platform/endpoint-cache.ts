/** Stands in for the SDK's cache of endpoint discovery in the functions' bundles: no command of DynamoDB that they send uses it. */
export class EndpointCache {}
