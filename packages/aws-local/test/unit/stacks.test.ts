import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinStacks } from '../../src/template/stacks.ts';

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
