import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineFunctions } from 'aws-local/functions/functions.ts';
import { arrivalAt, matchOperation, respond, unmatched } from 'aws-local/gateway/handler.ts';
import { parseTarget } from 'aws-local/gateway/request.ts';
import { compileRestApi, defineRestApi } from 'aws-local/gateway/rest-api.ts';
import { References } from 'aws-local/template/references.ts';
import { parseTemplate, templateOf } from 'aws-local/template/template.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { PROBLEM_STATUS } from '../../functions/http/problem.ts';
import { UNREADABLE } from '../../lib/local-run/start/local-service.ts';
import { ofType, type SynthesizedResource, synthesize } from './synthesize.ts';

const resources = (): Record<string, SynthesizedResource> => synthesize().toJSON().Resources;

/** The variables that a gateway's own response may contain: none that a caller chose. */
const ALLOWED = ['context.extendedRequestId'];

const Texts = z.record(z.string(), z.string()).default({});
const Response = z.object({ ResponseParameters: Texts, ResponseTemplates: Texts });
const Mock = z.object({
  Integration: z.object({ Type: z.string(), IntegrationResponses: z.array(Response).default([]) }),
});

/** The gateway's own responses: those of the gateway itself, and those of its mocks. */
const responsesOf = ({ Type, Properties }: SynthesizedResource): z.output<typeof Response>[] => {
  if (Type === 'AWS::ApiGateway::GatewayResponse') return [Response.parse(Properties)];
  if (Type !== 'AWS::ApiGateway::Method') return [];
  const { Integration } = Mock.parse(Properties);
  return Integration.Type === 'MOCK' ? Integration.IntegrationResponses : [];
};

/** Any template syntax: `$context.…`, `$input.…`, `#set`. */
const expressionsOf = ({ ResponseParameters, ResponseTemplates }: z.output<typeof Response>): string[] => [
  ...Object.values(ResponseTemplates).flatMap((text) => text.match(/\$!?\{?[\w.]*\w|^\s*#.*$/gm) ?? []),
  ...Object.values(ResponseParameters).filter((value) => !/^'[^']*'$/.test(value)),
];

/** Names each response that could repeat a caller's text. */
const echoesOf = (all: Record<string, SynthesizedResource>): string[] =>
  Object.entries(all).flatMap(([id, resource]) =>
    responsesOf(resource)
      .flatMap(expressionsOf)
      .filter((expression) => !ALLOWED.includes(expression.replace(/^\$/, '')))
      .map((expression) => `${id}: ${expression}`),
  );

describe('a response of the gateway itself', () => {
  it('repeats nothing of the request', () => {
    expect(echoesOf(resources())).toEqual([]);
  });

  it.each([
    ['{"m":$context.error.messageString}', '$context.error.messageString'],
    ['{"m":"$input.params(\'Authorization\')"}', '$input.params'],
    ['$!{input.body}', '$!{input.body'],
    ['#set($x = $input.params())', '#set($x = $input.params())'],
  ])('is reported, of the gateway and of a mock, when its template is %s', (template, expression) => {
    const ResponseParameters = { 'gatewayresponse.header.X': 'method.request.header.Authorization' };
    const answer = { StatusCode: '404', ResponseParameters, ResponseTemplates: { 'text/plain': template } };
    const planted = {
      Own: { Type: 'AWS::ApiGateway::GatewayResponse', Properties: answer },
      Mock: {
        Type: 'AWS::ApiGateway::Method',
        Properties: { Integration: { Type: 'MOCK', IntegrationResponses: [answer] } },
      },
    };
    expect(echoesOf(planted)).toEqual(
      ['Own', 'Mock'].flatMap((id) =>
        [expression, 'method.request.header.Authorization'].map((each) => `${id}: ${each}`),
      ),
    );
  });
});

/**
 * The gateway's types of responses with their statuses (API Gateway Developer Guide, Gateway response types).
 * A type without a response of its own uses the default of its class.
 */
const STATUSES: Readonly<Record<string, number>> = {
  ACCESS_DENIED: 403,
  API_CONFIGURATION_ERROR: 500,
  AUTHORIZER_CONFIGURATION_ERROR: 500,
  AUTHORIZER_FAILURE: 500,
  BAD_REQUEST_BODY: 400,
  BAD_REQUEST_PARAMETERS: 400,
  EXPIRED_TOKEN: 403,
  INTEGRATION_FAILURE: 504,
  INTEGRATION_TIMEOUT: 504,
  INVALID_API_KEY: 403,
  INVALID_SIGNATURE: 403,
  MISSING_AUTHENTICATION_TOKEN: 403,
  QUOTA_EXCEEDED: 429,
  REQUEST_TOO_LARGE: 413,
  RESOURCE_NOT_FOUND: 404,
  THROTTLED: 429,
  UNAUTHORIZED: 401,
  UNSUPPORTED_MEDIA_TYPE: 415,
  WAF_FILTERED: 403,
  // An error without a type of its own, such as a signature that is incomplete.
  'an error of the class 4XX': 403,
  'an error of the class 5XX': 502,
};

describe('a response of the gateway for', () => {
  const responses = new Map(
    ofType(synthesize(), 'AWS::ApiGateway::GatewayResponse').map(([, { Properties }]) => [
      String(Properties.ResponseType),
      Properties,
    ]),
  );

  it.each(Object.entries(STATUSES))('%s has the type of its status', (type, original) => {
    const response = responses.get(type) ?? responses.get(original < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX');
    const { type: given } = JSON.parse(Object(response?.ResponseTemplates)['application/json']).error;
    const status = Number(response?.StatusCode ?? original);
    expect([given, Object(PROBLEM_STATUS)[given]]).toEqual([given, status]);
  });
});

describe('the gateway', () => {
  it.each(Object.entries(UNREADABLE))('has the type of the status %s here too', (status, { type }) => {
    expect(PROBLEM_STATUS[type]).toBe(Number(status));
  });

  it('makes only responses that the specification excludes from those of a deprecated route', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/specification.md'), 'utf8');
    const [, excluded = ''] = /has one set of own responses for all routes,(.*?)\n6\. /s.exec(page) ?? [];
    const made = ofType(synthesize(), 'AWS::ApiGateway::GatewayResponse').map(
      ([, { Properties }]) => Properties.StatusCode ?? STATUSES[String(Properties.ResponseType)],
    );
    const named = [...(excluded.match(/\b[45]\d\d\b/g) ?? [])].filter((status) => status !== '431');
    expect([...new Set(made.map(String))].toSorted()).toEqual(named.toSorted());
  });
});

describe('an unknown path', () => {
  const ofGateway = Object.entries(resources()).filter(
    ([id, { Type }]) =>
      Type.startsWith('AWS::ApiGateway::') || (Type === 'AWS::IAM::Role' && id.startsWith('ApiInvoker')),
  );
  const { resources: declared } = parseTemplate({ Resources: Object.fromEntries(ofGateway) });
  const template = templateOf('Service', declared, {});
  const references = new References('Service');
  defineRestApi(template, references);
  defineFunctions(template, references);
  const [[logGroup = ''] = []] = ofType(synthesize(), 'AWS::Logs::LogGroup').filter(([id]) =>
    id.startsWith('ApiAccessLog'),
  );
  references.define(logGroup, {
    ref: 'access-log',
    attributes: { Arn: 'arn:aws:logs:::log-group:access-log' },
  });
  const api = compileRestApi(template, references, () => ({
    invokeSerialized: async () => ({ payload: { statusCode: 200, body: 'function' } }),
  }));
  const KEY = 'ck_live_0123456789abcdef';

  async function answer(method: string, path: string, headers: Record<string, string> = {}) {
    const target = parseTarget(path);
    if (!target) throw new Error(`no path: ${path}`);
    const request = {
      ...target,
      method,
      headers: Object.entries(headers),
      protocol: 'HTTP/1.1',
      sourceIp: '127.0.0.1',
    };
    const arrival = arrivalAt(api, new Date());
    const matched = matchOperation(api, request);
    return matched
      ? respond(api, matched, request, arrival, Buffer.from('a body'))
      : unmatched(api, request, arrival);
  }

  const Path = z.object({ ParentId: z.unknown(), PathPart: z.string() });
  const all = ofType(synthesize(), 'AWS::ApiGateway::Resource').map(
    ([id, { Properties }]) => [id, Path.parse(Properties)] as const,
  );
  const pathOf = (id: string): string => {
    const answer = all.find(([other]) => other === id)?.[1];
    return answer ? `${pathOf(String(Object(answer.ParentId).Ref))}/${answer.PathPart}` : '';
  };
  const paths = ['', ...all.map(([id]) => pathOf(id))].filter((path) => !path.endsWith('+}'));
  const credentials = [
    `Bearer ${KEY}`,
    KEY,
    `Basic ${btoa(KEY)}`,
    `AWS4-HMAC-SHA256 Credential=${KEY}/20261120/us-east-1/execute-api/aws4_request, SignedHeaders=host, Signature=0a`,
  ];

  it.each(paths)('below /api%s is 404 in the envelope, with any Authorization header', async (path) => {
    const filled = path.replaceAll(/\{[^}]+\}/g, 'some-id');
    for (const unknown of [`/api${filled}/nothing/at/all`, `/api${filled}/no/such`])
      for (const authorization of credentials) {
        const { statusCode, headers, body } = await answer('POST', unknown, { authorization });
        expect([unknown, statusCode]).toEqual([unknown, 404]);
        expect(JSON.parse(String(body)).error).toEqual({
          type: 'NOT_FOUND',
          message: 'No such route.',
          requestId: headers['Request-Id'],
        });
        expect(`${body}${JSON.stringify(headers)}`).not.toContain(KEY);
      }
  });

  it.each(['TRACE', 'PROPFIND'])('is 404 with the method %s, as is a known one', async (method) => {
    for (const path of ['/api/nothing', '/api/v1/webhooks'])
      for (const headers of [{}, ...credentials.map((authorization) => ({ authorization }))]) {
        const { statusCode, body } = await answer(method, path, headers);
        expect([path, statusCode, JSON.parse(String(body)).error.type]).toEqual([path, 404, 'NOT_FOUND']);
      }
  });

  it("is never refused by the gateway's default: each path has a resource with a method", async () => {
    const part = fc.oneof(
      fc.constantFrom(...paths.flatMap((path) => path.split('/')).filter((part) => part !== '')),
      fc.stringMatching(/^[a-z0-9]{1,8}$/),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 8 }), async (parts) => {
        const path = ['', 'api', ...parts].join('/').replaceAll(/[{}]/g, '');
        const { statusCode, body } = await answer('PATCH', path, { authorization: `Bearer ${KEY}` });
        expect([200, 404, 405]).toContain(statusCode);
        expect(String(body)).not.toContain(KEY);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'application/xml',
    'application/json; charset=utf-8',
    'APPLICATION/OCTET-STREAM',
    'strange/type',
    'no type at all',
  ])('is 404, and a wrong method reaches its function, with the content type %s', async (type) => {
    const headers = { 'content-type': type, authorization: `Bearer ${KEY}` };
    const unknown = await answer('POST', '/api/v1/nothing', headers);
    expect(unknown.statusCode).toBe(404);
    expect(JSON.parse(String(unknown.body)).error.type).toBe('NOT_FOUND');
    expect(await answer('PUT', '/api/v1/webhooks', headers)).toMatchObject({
      statusCode: 200,
      body: 'function',
    });
  });
});
