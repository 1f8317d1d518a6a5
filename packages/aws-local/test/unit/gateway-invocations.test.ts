import { describe, expect, it } from 'vitest';
import { defineFunctions } from '../../src/functions/functions.ts';
import { gatewayInvocations } from '../../src/permissions/gateway-invocations.ts';
import { References } from '../../src/template/references.ts';
import { parseTemplate, templateOf } from '../../src/template/template.ts';

const TARGET = 'arn:aws:lambda:us-east-1:000000000000:function:order';
const ROLE = 'arn:aws:iam::000000000000:role/invoker';

const aPermission = (changes: object = {}) => ({
  Permission: {
    Type: 'AWS::Lambda::Permission',
    Properties: {
      Action: 'lambda:InvokeFunction',
      FunctionName: 'order',
      Principal: 'apigateway.amazonaws.com',
      SourceArn: 'arn:aws:execute-api:us-east-1:000000000000:local/api/POST/orders/*',
      ...changes,
    },
  },
});

const aRole = ({
  principal = 'apigateway.amazonaws.com',
  resource = TARGET,
  action = 'lambda:InvokeFunction',
} = {}) => ({
  Invoker: {
    Type: 'AWS::IAM::Role',
    Properties: {
      RoleName: 'invoker',
      AssumeRolePolicyDocument: {
        Version: '2012-10-17',
        Statement: [{ Effect: 'Allow', Principal: { Service: principal }, Action: 'sts:AssumeRole' }],
      },
      Policies: [
        {
          PolicyName: 'Invoke',
          PolicyDocument: { Statement: [{ Effect: 'Allow', Action: action, Resource: resource }] },
        },
      ],
    },
  },
});

function requireInvocation(resources: object, Credentials?: string): void {
  const { resources: parsed, outputs } = parseTemplate({ Resources: resources });
  const template = templateOf('Service', parsed, outputs);
  const references = new References('Service');
  defineFunctions(template, references);
  gatewayInvocations(template, references, { apiId: 'local', stage: 'api' }).require(
    { method: 'POST', resourcePath: '/orders/{id}', functionArn: TARGET, Credentials },
    'PostOrder',
  );
}

describe('an invocation by the gateway', () => {
  it.each([
    ['a permission for the method and path', aPermission()],
    [
      'a permission for the whole API, by the function’s ARN',
      aPermission({ FunctionName: TARGET, SourceArn: 'arn:aws:execute-api:us-east-1:000000000000:local/*' }),
    ],
    ['a permission for the account', aPermission({ SourceArn: undefined, SourceAccount: '000000000000' })],
  ])('is allowed by %s', (_, resources) => {
    expect(() => requireInvocation(resources)).not.toThrow();
  });

  it.each([
    ['no permission', {}],
    [
      'a permission for another method',
      aPermission({ SourceArn: 'arn:aws:execute-api:us-east-1:000000000000:local/api/GET/orders/*' }),
    ],
    ['a permission for another service', aPermission({ Principal: 'events.amazonaws.com' })],
    ['a permission for another function', aPermission({ FunctionName: 'work' })],
    ['a permission for another action', aPermission({ Action: 'lambda:GetFunction' })],
  ])('is refused with %s, naming the method', (_, resources) => {
    expect(() => requireInvocation(resources)).toThrow(
      /^PostOrder: API Gateway may not invoke it: .*no permission/,
    );
  });

  it('is allowed by the role of its integration', () => {
    expect(() => requireInvocation(aRole(), ROLE)).not.toThrow();
  });

  it.each([
    ['API Gateway may not assume', aRole({ principal: 'lambda.amazonaws.com' }), /may not assume Invoker/],
    [
      'does not allow the function',
      aRole({ resource: `${TARGET}-2` }),
      /Invoker does not allow lambda:InvokeFunction/,
    ],
    [
      'does not allow the action',
      aRole({ action: 'lambda:InvokeAsync' }),
      /does not allow lambda:InvokeFunction/,
    ],
    ['the template lacks, with any permission', aPermission(), /no role/],
  ])('is refused with a role that %s', (_, resources, message) => {
    expect(() => requireInvocation(resources, ROLE)).toThrow(message);
  });
});
