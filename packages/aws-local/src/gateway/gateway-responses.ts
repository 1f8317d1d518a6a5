import * as z from 'zod';
import { LocalRunError } from '../errors.ts';
import type { Answer } from './answer.ts';
import { type Context, compileParameter, compileTemplate, type Rendered } from './context.ts';

interface Failure {
  statusCode: number;
  message: string;
}

/**
 * The gateway's own responses, with their default status and message.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
 */
export const FAILURES = {
  BAD_REQUEST_BODY: { statusCode: 400, message: 'Invalid request body' },
  DEFAULT_4XX: { statusCode: 400, message: 'Bad Request' },
  DEFAULT_5XX: { statusCode: 500, message: 'Internal server error' },
  /** Not a type that an API can declare: it uses the response of DEFAULT_4XX. */
  INCOMPLETE_SIGNATURE: { statusCode: 403, message: 'Missing Authentication Token' },
  INTEGRATION_FAILURE: { statusCode: 504, message: 'Internal server error' },
  INTEGRATION_TIMEOUT: { statusCode: 504, message: 'Endpoint request timed out' },
  MISSING_AUTHENTICATION_TOKEN: { statusCode: 403, message: 'Missing Authentication Token' },
  REQUEST_TOO_LARGE: { statusCode: 413, message: 'Request Too Long' },
  THROTTLED: { statusCode: 429, message: 'Too Many Requests' },
  UNSUPPORTED_MEDIA_TYPE: { statusCode: 415, message: 'Unsupported Media Type' },
} as const satisfies Record<string, Failure>;

export type FailureType = keyof typeof FAILURES;

/** Renders a gateway response; `statusCode` and `message` override those of a type with several. */
export type GatewayResponses = (
  type: FailureType,
  context: Context,
  statusCode?: number,
  message?: string,
) => Answer;

interface Custom {
  statusCode?: number;
  headers: { name: string; value: Rendered }[];
  contentType: string;
  body: Rendered;
}

const GatewayResponse = z.object({
  ResponseType: z.string(),
  StatusCode: z.union([z.string(), z.number()]).optional(),
  ResponseParameters: z.record(z.string(), z.string()).default({}),
  ResponseTemplates: z.record(z.string(), z.string()).default({}),
});

const HEADER = 'gatewayresponse.header.';
const DEFAULT_TEMPLATE = '{"message":$context.error.messageString}';

/**
 * Compiles an API's `AWS::ApiGateway::GatewayResponse`s. A type without its own uses `DEFAULT_4XX` or
 * `DEFAULT_5XX`; an unset status stays the failure's.
 * @param declared logical id and resolved properties of each
 * @throws LocalRunError for unsupported expressions
 */
export function compileGatewayResponses(
  declared: readonly { logicalId: string; properties: unknown }[],
): GatewayResponses {
  const customs = new Map(declared.map(({ logicalId, properties }) => compile(logicalId, properties)));
  const standard: Custom = {
    headers: [],
    contentType: 'application/json',
    body: compileTemplate(DEFAULT_TEMPLATE, ''),
  };
  return (type, context, statusCode, given) => {
    const failure: Failure = FAILURES[type];
    const message = given ?? failure.message;
    const original = statusCode ?? failure.statusCode;
    const custom =
      customs.get(type) ?? customs.get(original < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX') ?? standard;
    const values = {
      ...context,
      'error.message': message,
      'error.messageString': JSON.stringify(message),
      'error.responseType': type,
    };
    return {
      statusCode: custom.statusCode ?? original,
      headers: {
        'Content-Type': custom.contentType,
        ...Object.fromEntries(custom.headers.map(({ name, value }) => [name, value(values)])),
      },
      body: custom.body(values),
    };
  };
}

function compile(logicalId: string, properties: unknown): [type: string, response: Custom] {
  const { ResponseType, StatusCode, ResponseParameters, ResponseTemplates } =
    GatewayResponse.parse(properties);
  const [[contentType, template] = ['application/json', DEFAULT_TEMPLATE]] =
    Object.entries(ResponseTemplates);
  const headers = Object.entries(ResponseParameters).map(([target, expression]) => {
    if (!target.startsWith(HEADER))
      throw new LocalRunError(`${logicalId}: response parameter not supported by the local run: ${target}`);
    return { name: target.slice(HEADER.length), value: compileParameter(expression, logicalId) };
  });
  const statusCode = StatusCode === undefined ? undefined : Number(StatusCode);
  return [ResponseType, { statusCode, headers, contentType, body: compileTemplate(template, logicalId) }];
}
