import { describe, expect, it } from 'vitest';
import { importApis } from '../../src/template/api-import.ts';

const api = (body: object, changes: object = {}) => ({
  Rest: {
    Type: 'AWS::ApiGateway::RestApi',
    Properties: {
      Name: 'Shop',
      Body: { openapi: '3.0.1', info: {}, paths: {}, ...body },
      Mode: 'overwrite',
      ...changes,
    },
  },
});
const toFunction = { type: 'aws_proxy', httpMethod: 'POST', uri: { Ref: 'Uri' }, credentials: 'role' };
const operation = (integration: object) => ({
  responses: {},
  'x-amazon-apigateway-integration': integration,
});

describe('an API of an OpenAPI document', () => {
  it('has a resource for each part of a path, and a method for each operation', () => {
    const parts = importApis(
      api({
        'x-amazon-apigateway-binary-media-types': ['*/*'],
        paths: {
          '/': { 'x-amazon-apigateway-any-method': operation(toFunction) },
          '/v1/things/{id}': { get: operation(toFunction) },
        },
      }),
    );
    const RestApiId = { Ref: 'Rest' };
    const resource = (PathPart: string, ParentId: object) => ({
      Type: 'AWS::ApiGateway::Resource',
      Properties: { RestApiId, ParentId, PathPart },
    });
    const method = (HttpMethod: string, ResourceId: object) => ({
      Type: 'AWS::ApiGateway::Method',
      Properties: {
        RestApiId,
        ResourceId,
        HttpMethod,
        AuthorizationType: 'NONE',
        Integration: {
          Type: 'AWS_PROXY',
          IntegrationHttpMethod: 'POST',
          Uri: { Ref: 'Uri' },
          Credentials: 'role',
        },
      },
    });
    const root = { 'Fn::GetAtt': ['Rest', 'RootResourceId'] };
    expect(parts).toEqual({
      Rest: {
        Type: 'AWS::ApiGateway::RestApi',
        Properties: { Name: 'Shop', BinaryMediaTypes: ['*/*'] },
      },
      Restv1: resource('v1', root),
      Restv1things: resource('things', { Ref: 'Restv1' }),
      Restv1thingsid: resource('{id}', { Ref: 'Restv1things' }),
      RestANY: method('ANY', root),
      Restv1thingsidGET: method('GET', { Ref: 'Restv1thingsid' }),
    });
  });

  it('has its own responses, and mocks with their headers', () => {
    const answer = {
      statusCode: '404',
      responseParameters: { 'method.response.header.Id': 'context.extendedRequestId' },
      responseTemplates: { 'application/json': '{}' },
    };
    const parts = importApis(
      api({
        'x-amazon-apigateway-gateway-responses': {
          THROTTLED: { responseParameters: { 'gatewayresponse.header.Retry-After': "'1'" } },
        },
        paths: {
          '/{proxy+}': {
            'x-amazon-apigateway-any-method': {
              responses: { 404: { description: '', headers: { Id: {} } } },
              'x-amazon-apigateway-integration': {
                type: 'mock',
                passthroughBehavior: 'never',
                contentHandling: 'CONVERT_TO_TEXT',
                requestTemplates: { 'application/json': '{"statusCode":404}' },
                responses: { default: answer, '5\\d\\d': { statusCode: '500' } },
              },
            },
          },
        },
      }),
    );
    expect(parts.RestTHROTTLED).toEqual({
      Type: 'AWS::ApiGateway::GatewayResponse',
      Properties: {
        RestApiId: { Ref: 'Rest' },
        ResponseType: 'THROTTLED',
        ResponseParameters: { 'gatewayresponse.header.Retry-After': "'1'" },
      },
    });
    expect(parts.RestproxyANY).toMatchObject({
      Properties: {
        Integration: {
          Type: 'MOCK',
          PassthroughBehavior: 'NEVER',
          ContentHandling: 'CONVERT_TO_TEXT',
          RequestTemplates: { 'application/json': '{"statusCode":404}' },
          IntegrationResponses: [
            {
              StatusCode: '404',
              ResponseParameters: answer.responseParameters,
              ResponseTemplates: answer.responseTemplates,
            },
            { SelectionPattern: '5\\d\\d', StatusCode: '500' },
          ],
        },
        MethodResponses: [{ StatusCode: '404', ResponseParameters: { 'method.response.header.Id': true } }],
      },
    });
  });

  it.each([
    ['an extension', { 'x-amazon-apigateway-policy': {} }, 'x-amazon-apigateway-policy'],
    ['an integration', { paths: { '/': { get: operation({ type: 'http' }) } } }, 'aws_proxy'],
    ['a method', { paths: { '/': { trace: operation(toFunction) } } }, 'trace'],
  ])('is refused for %s that the local run does not know', (_, body, named) => {
    expect(() => importApis(api(body))).toThrow(named);
  });

  it('stays as it is without a document', () => {
    const resources = { Rest: { Type: 'AWS::ApiGateway::RestApi', Properties: { Name: 'Shop' } }, Other: 1 };
    expect(importApis(resources)).toEqual(resources);
  });
});
