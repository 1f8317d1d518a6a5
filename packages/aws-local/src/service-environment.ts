import { CREDENTIALS } from './engines/engines.ts';

export interface Endpoints {
  dynamodb: string;
  sqs: string;
  secretsManager: string;
  eventBridge: string;
  ses: string;
  lambda: string;
  /** Absent with an SQS of the user's. */
  sns?: string;
  /** Absent without sign-in. */
  cognito?: string;
}

/** Environment variables of every function, in addition to the template's. */
export function serviceEnvironment(endpoints: Endpoints, caFile?: string): Record<string, string> {
  return {
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
    AWS_ENDPOINT_URL_DYNAMODB_STREAMS: endpoints.dynamodb,
    AWS_ENDPOINT_URL_SQS: endpoints.sqs,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoints.secretsManager,
    AWS_ENDPOINT_URL_EVENTBRIDGE: endpoints.eventBridge,
    AWS_ENDPOINT_URL_SESV2: endpoints.ses,
    AWS_ENDPOINT_URL_LAMBDA: endpoints.lambda,
    ...(endpoints.cognito === undefined
      ? {}
      : { AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER: endpoints.cognito }),
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    // Not `AWS_Lambda_…`: functions refuse settings of the local run if they see that prefix.
    AWS_EXECUTION_ENV: 'local_nodejs24.x',
    ...(caFile === undefined ? {} : { NODE_EXTRA_CA_CERTS: caFile }),
  };
}
