import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { type Clients, clientsOf, LOCAL_CREDENTIALS } from '../clients.ts';
import type { Place } from '../place.ts';

/** Clients in addition to those of the operator's commands. */
export interface VerifyClients extends Clients {
  lambda: LambdaClient;
  /** Undefined in the local run. */
  cloudWatch: CloudWatchClient | undefined;
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
  const lambda = new LambdaClient({
    region,
    requestHandler,
    // A retried invocation could create a second organization.
    maxAttempts: 1,
    ...(endpoints === undefined ? {} : { endpoint: endpoints.lambda, credentials: LOCAL_CREDENTIALS }),
  });
  const cloudWatch = endpoints === undefined ? new CloudWatchClient({ region, requestHandler }) : undefined;
  return {
    ...clients,
    lambda,
    cloudWatch,
    [Symbol.dispose]() {
      clients[Symbol.dispose]();
      lambda.destroy();
      cloudWatch?.destroy();
    },
  };
}
