import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LocalRunError } from '../../src/errors.ts';
import { loadTemplate, parseTemplate } from '../../src/template/template.ts';
import { anAssembly } from './assembly-fixture.ts';

const fn = (properties = {}) => ({
  Type: 'AWS::Lambda::Function',
  Properties: {
    Code: { S3Bucket: { 'Fn::Sub': `assets-\${AWS::Region}` }, S3Key: 'abc.zip' },
    Handler: 'index.handler',
    Runtime: 'nodejs24.x',
    ...properties,
  },
});

const parsed = (resource: object) => () => parseTemplate({ Resources: { It: resource } });

describe('loading an assembly', () => {
  it('reads the one stack, its resources, outputs and asset directories', () => {
    const directory = anAssembly({
      Resources: { Api: { ...fn(), DependsOn: 'Work' }, Work: { Type: 'AWS::SQS::Queue' } },
      Outputs: { ApiUrl: { Value: { Ref: 'Api' }, Description: 'where it is' } },
      Parameters: { BootstrapVersion: { Type: 'String' } },
      Rules: { CheckBootstrapVersion: {} },
    });

    const template = loadTemplate(directory);

    expect(template.stackName).toBe('Service');
    expect(template.get('Api')).toMatchObject({ type: 'AWS::Lambda::Function', dependsOn: ['Work'] });
    expect(template.get('Work').properties).toEqual({});
    expect(template.ofType('AWS::SQS::Queue').map(({ logicalId }) => logicalId)).toEqual(['Work']);
    expect(template.outputs).toEqual({ ApiUrl: { Ref: 'Api' } });
    expect(template.assetDirectory(template.get('Api'))).toBe(join(directory, 'asset.abc'));
  });

  it('refuses an assembly without a stack', () => {
    expect(() => loadTemplate(anAssembly({ Resources: {} }, []))).toThrow(/has no stack/);
  });

  it('merges several stacks, named by their common prefix', () => {
    const template = loadTemplate(
      anAssembly({ Resources: { Work: { Type: 'AWS::SQS::Queue' } } }, ['Shop-dev-Data', 'Shop-dev-Work']),
    );
    expect(template.stackName).toBe('Shop-dev');
    expect(template.resources.map(({ logicalId }) => logicalId)).toEqual(['Work']);
  });

  it('asks for a synthesis where there is none', () => {
    expect(() => loadTemplate('/nowhere')).toThrow(
      new LocalRunError('Cannot read /nowhere/manifest.json: synthesize the CDK app first'),
    );
  });

  it('refuses a resource or code that does not exist', () => {
    const template = loadTemplate(anAssembly({ Resources: { Api: fn({ Code: { S3Key: 'other.zip' } }) } }));

    expect(() => template.get('Nothing')).toThrow('no resource Nothing');
    expect(() => template.assetDirectory(template.get('Api'))).toThrow(
      'Api (AWS::Lambda::Function): its code is not in',
    );
  });
});

describe('a template', () => {
  it.each([
    [
      'resource type',
      { Type: 'AWS::SNS::TopicInlinePolicy' },
      'It (AWS::SNS::TopicInlinePolicy): the local run does not know this resource type',
    ],
    [
      'property',
      { Type: 'AWS::SQS::Queue', Properties: { Colour: 'red' } },
      'It (AWS::SQS::Queue): the local run does not know the property Colour',
    ],
    [
      'nested property',
      { Type: 'AWS::SQS::Queue', Properties: { RedrivePolicy: { redrive: true } } },
      'It (AWS::SQS::Queue): the local run does not know the property RedrivePolicy.redrive',
    ],
    [
      'property in a list',
      {
        Type: 'AWS::DynamoDB::Table',
        Properties: { GlobalSecondaryIndexes: [{ IndexName: 'a' }, { IndexName: 'b', Vector: 3 }] },
      },
      'It (AWS::DynamoDB::Table): the local run does not know the property GlobalSecondaryIndexes[1].Vector',
    ],
    [
      'value',
      fn({ Runtime: 'python3.14' }),
      'It (AWS::Lambda::Function): the local run knows the property Runtime only as "nodejs24.x", not as "python3.14"',
    ],
    [
      'condition',
      { Type: 'AWS::SQS::Queue', Condition: 'InEurope' },
      'It (AWS::SQS::Queue): the local run does not know the resource attribute Condition',
    ],
    [
      'intrinsic function in place of a structure',
      { Type: 'AWS::SQS::Queue', Properties: { RedrivePolicy: { 'Fn::If': ['A', {}, {}] } } },
      'It (AWS::SQS::Queue): the local run does not know the property RedrivePolicy.Fn::If',
    ],
    [
      'inherited name',
      { Type: 'constructor' },
      'It (constructor): the local run does not know this resource type',
    ],
    [
      'inherited property',
      { Type: 'AWS::SQS::Queue', Properties: { toString: 1 } },
      'It (AWS::SQS::Queue): the local run does not know the property toString',
    ],
  ])('is refused by name with an unknown %s', (_, resource, message) => {
    expect(parsed(resource)).toThrow(new LocalRunError(message));
  });

  it('is refused by name with an unknown section', () => {
    expect(() => parseTemplate({ Resources: {}, Transform: 'AWS::Serverless' })).toThrow('section Transform');
  });

  it('may contain settings without an effect on one machine', () => {
    const { resources } = parseTemplate({
      Resources: {
        It: {
          Type: 'AWS::DynamoDB::Table',
          Properties: { PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true }, Tags: [] },
          UpdateReplacePolicy: 'Delete',
          DeletionPolicy: 'Delete',
          Metadata: { any: 'thing' },
        },
        Note: {
          Type: 'AWS::CDK::Metadata',
          Condition: 'CDKMetadataAvailable',
          Properties: { Analytics: 'v2' },
        },
      },
      Conditions: { CDKMetadataAvailable: {} },
    });

    expect(resources.map(({ logicalId }) => logicalId)).toEqual(['It']);
  });

  it('has no output for what does not exist here', () => {
    const content = {
      Resources: { Late: { Type: 'AWS::CloudWatch::Alarm' }, Jobs: { Type: 'AWS::SQS::Queue' } },
      Outputs: {
        AlarmName: { Value: { Ref: 'Late' } },
        AlarmArns: { Value: { 'Fn::Join': [' ', [{ 'Fn::GetAtt': ['Late', 'Arn'] }]] } },
        QueueUrl: { Value: { Ref: 'Jobs' } },
      },
    };
    expect(parseTemplate(content).outputs).toEqual({ QueueUrl: { Ref: 'Jobs' } });
  });
});
