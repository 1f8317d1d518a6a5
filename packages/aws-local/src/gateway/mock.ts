import * as z from 'zod';
import { LocalRunError } from '../errors.ts';
import type { Answer } from './answer.ts';
import { type Context, compileParameter, compileTemplate, type Rendered } from './context.ts';
import type { FailureType } from './gateway-responses.ts';

const MockIntegration = z.object({
  RequestTemplates: z.record(z.string(), z.string()).default({}),
  PassthroughBehavior: z.enum(['WHEN_NO_MATCH', 'WHEN_NO_TEMPLATES', 'NEVER']).default('WHEN_NO_MATCH'),
  IntegrationResponses: z
    .array(
      z.object({
        StatusCode: z.string(),
        SelectionPattern: z.string().optional(),
        ResponseParameters: z.record(z.string(), z.string()).default({}),
        ResponseTemplates: z.record(z.string(), z.string()).default({}),
      }),
    )
    .default([]),
});

interface MockResponse {
  statusCode: number;
  /** Integration statuses that it matches; without one it is the default. */
  selects?: RegExp;
  headers: { name: string; value: Rendered }[];
  contentType: string;
  body: Rendered;
}

/** Responds by content type and context, or returns the type of a gateway response. */
export type Mock = (contentType: string, body: string, context: Context) => Answer | FailureType;

const HEADER = 'method.response.header.';

/**
 * Compiles a `MOCK` integration: the request template for the content type yields the status, which selects
 * an integration response.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/how-to-mock-integration.html
 * @param where names the method in messages
 * @throws LocalRunError for unsupported templates and expressions
 */
export function compileMock(integration: unknown, where: string): Mock {
  const { RequestTemplates, PassthroughBehavior, IntegrationResponses } = MockIntegration.parse(integration);
  const templates = new Map(
    Object.entries(RequestTemplates).map(([type, text]) => [type, compileTemplate(text, where)]),
  );
  const passesThrough =
    PassthroughBehavior === 'WHEN_NO_MATCH' ||
    (PassthroughBehavior === 'WHEN_NO_TEMPLATES' && templates.size === 0);
  const responses = IntegrationResponses.map((response) => compileResponse(response, where));
  return (contentType, body, context) => {
    const template = templates.get(contentType);
    if (!template && !passesThrough) return 'UNSUPPORTED_MEDIA_TYPE';
    const status = parseStatus(template ? template(context) : body);
    const response =
      status === undefined
        ? undefined
        : (responses.find(({ selects }) => selects?.test(status)) ??
          responses.find(({ selects }) => !selects));
    if (!response) return 'DEFAULT_5XX';
    const { statusCode, headers } = response;
    return {
      statusCode,
      headers: {
        'Content-Type': response.contentType,
        ...Object.fromEntries(headers.map(({ name, value }) => [name, value(context)])),
      },
      body: response.body(context),
    };
  };
}

function compileResponse(
  response: z.output<typeof MockIntegration>['IntegrationResponses'][number],
  where: string,
): MockResponse {
  const { StatusCode, SelectionPattern, ResponseParameters, ResponseTemplates } = response;
  const [[contentType, template] = ['application/json', '']] = Object.entries(ResponseTemplates);
  const headers = Object.entries(ResponseParameters).map(([target, expression]) => {
    if (!target.startsWith(HEADER))
      throw new LocalRunError(`${where}: response parameter not supported by the local run: ${target}`);
    return { name: target.slice(HEADER.length), value: compileParameter(expression, where) };
  });
  return {
    statusCode: Number(StatusCode),
    selects: SelectionPattern ? new RegExp(`^(?:${SelectionPattern})$`) : undefined,
    headers,
    contentType,
    body: compileTemplate(template, where),
  };
}

/** `statusCode` of a rendered request template; the gateway answers an error without one. */
function parseStatus(rendered: string): string | undefined {
  try {
    const { statusCode } = z.object({ statusCode: z.number() }).parse(JSON.parse(rendered));
    return String(statusCode);
  } catch {
    return undefined;
  }
}
