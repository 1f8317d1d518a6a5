import { AsyncLocalStorage } from 'node:async_hooks';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { logger } from '../../functions/aws/logger.ts';
import { aKeyring } from '../builders.ts';
import { aGatewayEvent, FUNCTION_ENVIRONMENT, UNTIMED } from '../support/functions.ts';

/** A request of a customer with an API key. */
export interface Request {
  credential: string;
  idempotencyKey: string;
  params: Record<string, string>;
  body: object;
}

export interface Answer {
  isSuccess: boolean;
  isReplay: boolean;
  /** Status, location, and data or error, as text. */
  text: string;
}

export type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

const FUNCTIONS = join(import.meta.dirname, '../../functions/api');

/** The tables that the function of a request reaches: all functions here share the SDK's own client. */
const reached = new AsyncLocalStorage<DynamoDBClient>();
const keyring = JSON.stringify(aKeyring());

/**
 * Loads a function of the API as Lambda does, but with the tables of its caller.
 * @param file in `functions/api`, without its ending
 */
export async function loadFunction(file: string): Promise<Handler> {
  const { METRICS_NAMESPACE: _, ...environment } = FUNCTION_ENVIRONMENT;
  Object.assign(process.env, environment);
  Object.assign(logger, { log: () => undefined });
  Object.assign(DynamoDBClient.prototype, {
    send: (command: never) => reached.getStore()?.send(command),
  });
  Object.assign(SecretsManagerClient.prototype, { send: async () => ({ SecretString: keyring }) });
  const { handler } = await import(join(FUNCTIONS, `${file}.ts`));
  return handler;
}

/** Calls a request's function, which reaches its tables through the client. */
export async function call(handler: Handler, request: Request, client: DynamoDBClient): Promise<Answer> {
  const event = aGatewayEvent({
    headers: {
      authorization: `Bearer ${request.credential}`,
      'content-type': 'application/json',
      'idempotency-key': request.idempotencyKey,
    },
    pathParameters: request.params,
    body: JSON.stringify(request.body),
  });
  const { statusCode, headers = {}, body } = await reached.run(client, () => handler(event, UNTIMED));
  const { data, error } = JSON.parse(body);
  return {
    isSuccess: statusCode < 300,
    isReplay: headers['Idempotency-Replayed'] === 'true',
    text: JSON.stringify([statusCode, headers.Location, data ?? error]),
  };
}
