import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { onTestFinished } from 'vitest';
import type { InvocationResult } from '../../src/functions/sandbox.ts';
import { compileRestApi, defineRestApi } from '../../src/gateway/rest-api.ts';
import { startGateway } from '../../src/gateway/server.ts';
import { References } from '../../src/template/references.ts';
import { parseTemplate, type Template } from '../../src/template/template.ts';

const FUNCTION_ARN = 'arn:aws:lambda:us-east-1:000000000000:function:Api';

const method = (HttpMethod: string, resource: string, integration: object = {}) => ({
  Type: 'AWS::ApiGateway::Method',
  Properties: {
    RestApiId: { Ref: 'Api' },
    ResourceId: { Ref: resource },
    HttpMethod,
    AuthorizationType: 'NONE',
    Integration: {
      Type: 'AWS_PROXY',
      IntegrationHttpMethod: 'POST',
      Uri: {
        'Fn::Join': [
          '',
          ['arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/', FUNCTION_ARN, '/invocations'],
        ],
      },
      ...integration,
    },
  },
});

const resource = (ParentId: unknown, PathPart: string) => ({
  Type: 'AWS::ApiGateway::Resource',
  Properties: { RestApiId: { Ref: 'Api' }, ParentId, PathPart },
});

const envelope = (ResponseType: string, StatusCode?: string) => ({
  Type: 'AWS::ApiGateway::GatewayResponse',
  Properties: {
    RestApiId: { Ref: 'Api' },
    ResponseType,
    ...(StatusCode ? { StatusCode } : {}),
    ResponseParameters: { 'gatewayresponse.header.Request-Id': 'context.extendedRequestId' },
    ResponseTemplates: {
      'application/json':
        '{"error":{"message":$context.error.messageString,"requestId":"$context.extendedRequestId"}}',
    },
  },
});

/**
 * An API with `GET` and `POST /api/v1/things/{id}`, 405 for other methods, and one envelope for all errors.
 */
const resources = {
  Api: { Type: 'AWS::ApiGateway::RestApi', Properties: { Name: 'Api' } },
  Stage: {
    Type: 'AWS::ApiGateway::Stage',
    Properties: { RestApiId: { Ref: 'Api' }, DeploymentId: { Ref: 'Deployment' }, StageName: 'api' },
  },
  Deployment: { Type: 'AWS::ApiGateway::Deployment', Properties: { RestApiId: { Ref: 'Api' } } },
  Things: resource({ Ref: 'V1' }, 'things'),
  Thing: resource({ Ref: 'Things' }, '{id}'),
  V1: resource({ 'Fn::GetAtt': ['Api', 'RootResourceId'] }, 'v1'),
  MayInvoke: {
    Type: 'AWS::Lambda::Permission',
    Properties: {
      Action: 'lambda:InvokeFunction',
      FunctionName: FUNCTION_ARN,
      Principal: 'apigateway.amazonaws.com',
      SourceArn: 'arn:aws:execute-api:us-east-1:000000000000:local/api/*/v1/things/*',
    },
  },
  GetThing: method('GET', 'Thing'),
  PostThing: method('POST', 'Thing', { TimeoutInMillis: 300 }),
  AnyThing: method('ANY', 'Thing', {
    Type: 'MOCK',
    Uri: undefined,
    RequestTemplates: { 'application/json': '{"statusCode": 405}' },
    PassthroughBehavior: 'NEVER',
    IntegrationResponses: [
      { StatusCode: '405', ResponseParameters: { 'method.response.header.Allow': "'GET, POST'" } },
    ],
  }),
  NotFound: envelope('MISSING_AUTHENTICATION_TOKEN', '404'),
  ClientError: envelope('DEFAULT_4XX'),
  ServerError: envelope('DEFAULT_5XX'),
};

/** Limits of a stage for each method, and of the method `GET /v1/things/{id}` where it has its own. */
export interface Limits {
  rate: number;
  burst: number;
  ofGetThing?: { rate: number; burst: number };
}

const settingsOf = (HttpMethod: string, ResourcePath: string, { rate, burst }: Limits) => ({
  HttpMethod,
  ResourcePath,
  ThrottlingRateLimit: rate,
  ThrottlingBurstLimit: burst,
});

const limitedStage = (limits: Limits) => ({
  ...resources.Stage,
  Properties: {
    ...resources.Stage.Properties,
    MethodSettings: [
      settingsOf('*', '/*', limits),
      ...(limits.ofGetThing ? [settingsOf('GET', '/~1v1~1things~1{id}', limits.ofGetThing)] : []),
    ],
  },
});

/** The answer of a function to an event of the gateway. */
export type Answering = (event: APIGatewayProxyEvent) => InvocationResult | Promise<InvocationResult>;

/**
 * A gateway in front of this function, until the end of the test.
 * @param limits rate and burst of each method; unlimited when absent
 * @param options binary media types, and the content handling of its mock
 */
export async function aGateway(
  answer: Answering,
  limits?: Limits,
  { binary, ...mock }: { binary?: string[]; ContentHandling?: string } = {},
) {
  const Resources = {
    ...resources,
    ...(limits && { Stage: limitedStage(limits) }),
    ...(binary && {
      Api: { ...resources.Api, Properties: { ...resources.Api.Properties, BinaryMediaTypes: binary } },
      AnyThing: {
        ...resources.AnyThing,
        Properties: {
          ...resources.AnyThing.Properties,
          Integration: { ...resources.AnyThing.Properties.Integration, ...mock },
        },
      },
    }),
  };
  const { resources: parsed, outputs } = parseTemplate(JSON.parse(JSON.stringify({ Resources })));
  const template: Template = {
    stackName: 'Test',
    resources: parsed,
    outputs,
    ofType: (type) => parsed.filter((one) => one.type === type),
    get: () => {
      throw new Error('nothing asks for a resource by its id');
    },
    asset: () => '',
    assetDirectory: () => '',
  };
  const references = new References('Test');
  defineRestApi(template, references);
  const invokeSerialized = async (event: string): Promise<InvocationResult> => answer(JSON.parse(event));
  const api = compileRestApi(template, references, () => ({ invokeSerialized }));
  const logged: string[] = [];
  const gateway = await startGateway(api, 0, { log: (text) => logged.push(text) });
  onTestFinished(() => gateway.close());
  return {
    gateway,
    logged,
    url: `http://127.0.0.1:${gateway.port}/api/v1`,
    raw: (bytes: string) => exchange(gateway.port, bytes),
  };
}

/** Sends these bytes on a connection, and reads until the server closes it. */
async function exchange(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const answer = text(socket);
  socket.write(bytes);
  return answer;
}
