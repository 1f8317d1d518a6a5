import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SNSClient } from '@aws-sdk/client-sns';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { type Clients, clientsOf, LOCAL_CREDENTIALS } from '../clients.ts';
import type { Place } from '../place.ts';

/** Clients in addition to those of the operator's commands. */
export interface VerifyClients extends Clients {
  lambda: LambdaClient;
  /** Undefined in the local run. */
  cloudWatch: CloudWatchClient | undefined;
  /** Undefined in a local run with another SQS, whose engine has the topics. */
  sns: SNSClient | undefined;
}

/** Longer than the timeout of the function `enrol`. */
const REQUEST_TIMEOUT_MS = 15_000;

export function verifyClientsOf(place: Place): VerifyClients {
  const { region, endpoints } = place;
  const clients = clientsOf(place);
  const requestHandler = new NodeHttpHandler({
    connectionTimeout: 2_000,
    requestTimeout: REQUEST_TIMEOUT_MS,
    throwOnRequestTimeout: true,
  });
  const at = (endpoint?: string) =>
    endpoint === undefined ? {} : { endpoint, credentials: LOCAL_CREDENTIALS };
  const lambda = new LambdaClient({
    region,
    requestHandler,
    // A retried invocation could create a second organization.
    maxAttempts: 1,
    ...at(endpoints?.lambda),
  });
  const cloudWatch = endpoints === undefined ? new CloudWatchClient({ region, requestHandler }) : undefined;
  const sns =
    endpoints === undefined || endpoints.sns !== undefined
      ? new SNSClient({ region, requestHandler, ...at(endpoints?.sns) })
      : undefined;
  return {
    ...clients,
    lambda,
    cloudWatch,
    sns,
    [Symbol.dispose]() {
      clients[Symbol.dispose]();
      lambda.destroy();
      cloudWatch?.destroy();
      sns?.destroy();
    },
  };
}
