import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinStacks, withNestedStacks } from '../../src/template/stacks.ts';

const stack = (stackName: string, content: Record<string, unknown>) => ({ stackName, content });
const data = stack('Shop-dev-Data', {
  Resources: { Table: { Type: 'AWS::DynamoDB::Table' } },
  Outputs: {
    ExportsTable: { Value: { 'Fn::GetAtt': ['Table', 'Arn'] }, Export: { Name: 'Shop-dev-Data:Table' } },
    TableName: { Value: { Ref: 'Table' } },
  },
});
const work = stack('Shop-dev-Work', {
  Resources: {
    Role: {
      Type: 'AWS::IAM::Role',
      Properties: {
        Arn: { 'Fn::Join': ['', [{ 'Fn::ImportValue': 'Shop-dev-Data:Table' }, '/index/due']] },
      },
    },
  },
});

describe('merged stacks', () => {
  it('replace imports by the exports of the others, in any order', () => {
    for (const stacks of [
      [data, work],
      [work, data],
    ]) {
      const { stackName, content } = joinStacks(stacks);
      expect(stackName).toBe('Shop-dev');
      expect(content).toEqual({
        Resources: {
          Table: { Type: 'AWS::DynamoDB::Table' },
          Role: {
            Type: 'AWS::IAM::Role',
            Properties: {
              Arn: { 'Fn::Join': ['', [{ 'Fn::GetAtt': ['Table', 'Arn'] }, '/index/due']] },
            },
          },
        },
        Outputs: { TableName: { Value: { Ref: 'Table' } } },
      });
    }
  });

  it('are refused when they export one name with different values', () => {
    const other = stack('Shop-dev-Other', { Resources: { Table: { Type: 'AWS::SQS::Queue' } } });
    expect(() => joinStacks([data, other])).toThrow(
      'Resources of Shop-dev-Other: another stack has a different Table, and the local run makes one of all stacks',
    );
  });

  it('are refused when an import has no export', () => {
    expect(() => joinStacks([work])).toThrow(
      'A stack imports "Shop-dev-Data:Table", which no stack of the assembly exports',
    );
  });

  it('have nested ones in place of their resources, with parameters and outputs resolved', () => {
    const nested = (objectKey: string, Parameters?: object) => ({
      Type: 'AWS::CloudFormation::Stack',
      Properties: { TemplateURL: { 'Fn::Join': ['', ['https://s3.', `/${objectKey}`]] }, Parameters },
      ...(Parameters && { DependsOn: 'Data' }),
    });
    const templates: Record<string, Record<string, unknown>> = {
      'data.json': {
        Resources: { Table: { Type: 'AWS::DynamoDB::Table' } },
        Outputs: { Arn: { Value: { 'Fn::GetAtt': ['Table', 'Arn'] } } },
      },
      'work.json': {
        Parameters: { TableArn: { Type: 'String' } },
        Resources: { Role: { Type: 'AWS::IAM::Role', Properties: { Arn: { Ref: 'TableArn' } } } },
        Outputs: { Role: { Value: { Ref: 'Role' } } },
      },
    };
    const root = stack('Shop-dev', {
      Resources: {
        Data: nested('data.json'),
        Work: nested('work.json', { TableArn: { 'Fn::GetAtt': ['Data', 'Outputs.Arn'] } }),
        Queue: { Type: 'AWS::SQS::Queue', DependsOn: ['Work', 'Other'] },
      },
      Outputs: { RoleName: { Value: { 'Fn::GetAtt': ['Work', 'Outputs.Role'] } } },
    });
    const stacks = withNestedStacks(root, (objectKey) => templates[objectKey] ?? {});
    expect(joinStacks(stacks)).toEqual({
      stackName: 'Shop-dev',
      content: {
        Resources: {
          Queue: { Type: 'AWS::SQS::Queue', DependsOn: ['Other'] },
          Table: { Type: 'AWS::DynamoDB::Table' },
          Role: { Type: 'AWS::IAM::Role', Properties: { Arn: { 'Fn::GetAtt': ['Table', 'Arn'] } } },
        },
        Outputs: { RoleName: { Value: { Ref: 'Role' } } },
      },
    });
    const missing: typeof templates = { ...templates, 'data.json': { Resources: {} } };
    expect(() => joinStacks(withNestedStacks(root, (key) => missing[key] ?? {}))).toThrow(
      'The stack Shop-dev-Data has no Outputs.Arn, which another stack refers to',
    );
  });

  it('equal a single stack, with any values', () => {
    const values = fc.dictionary(fc.stringMatching(/^[A-Z]\w{0,8}$/), fc.jsonValue());
    fc.assert(
      fc.property(values, (Resources) => {
        const { stackName, content } = joinStacks([stack('Only-', { Resources })]);
        // As in a file, which has no negative zero.
        expect(JSON.stringify([stackName, content.Resources])).toBe(JSON.stringify(['Only-', Resources]));
      }),
    );
  });
});
