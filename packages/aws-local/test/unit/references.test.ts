import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { References } from '../../src/template/references.ts';

function someReferences(): References {
  const references = new References('Service');
  references.define('Table', {
    ref: 'Service-Table',
    attributes: { Arn: 'arn:table', 'Nested.Name': 'nested' },
  });
  return references;
}

const resolve = (value: unknown) => someReferences().resolve(value);

describe('intrinsic functions', () => {
  it.each([
    [{ Ref: 'Table' }, 'Service-Table'],
    [{ Ref: 'AWS::Region' }, 'us-east-1'],
    [{ Ref: 'AWS::AccountId' }, '000000000000'],
    [{ Ref: 'AWS::Partition' }, 'aws'],
    [{ Ref: 'AWS::StackName' }, 'Service'],
    [{ 'Fn::GetAtt': ['Table', 'Arn'] }, 'arn:table'],
    [{ 'Fn::GetAtt': 'Table.Nested.Name' }, 'nested'],
    [{ 'Fn::Join': ['-', ['a', { Ref: 'Table' }, 3]] }, 'a-Service-Table-3'],
    [{ 'Fn::Select': [1, ['a', 'b']] }, 'b'],
    [{ 'Fn::Select': ['0', { 'Fn::Split': [':', { 'Fn::GetAtt': ['Table', 'Arn'] }] }] }, 'arn'],
    [
      { 'Fn::Sub': `\${Table} \${Table.Arn} \${AWS::Region} \${!Literal}` },
      `Service-Table arn:table us-east-1 \${Literal}`,
    ],
    [{ 'Fn::Sub': [`\${own}/\${Table}`, { own: { Ref: 'AWS::Partition' } }] }, 'aws/Service-Table'],
    [
      { list: [{ Ref: 'Table' }, { deep: { Ref: 'AWS::Region' } }] },
      { list: ['Service-Table', { deep: 'us-east-1' }] },
    ],
  ])('resolve %j to %j', (value, expected) => {
    expect(resolve(value)).toEqual(expected);
  });

  it('leave out undefined values', () => {
    expect(
      resolve({ kept: 1, dropped: { Ref: 'AWS::NoValue' }, list: [{ Ref: 'AWS::NoValue' }, 2] }),
    ).toEqual({
      kept: 1,
      list: [2],
    });
  });

  it.each([
    [{ Ref: 'Missing' }, 'a reference to Missing'],
    [{ Ref: 'toString' }, 'a reference to toString'],
    [{ 'Fn::GetAtt': ['Table', 'StreamArn'] }, 'the attribute StreamArn of Table'],
    [{ 'Fn::Sub': `x\${Missing}` }, 'a reference to Missing'],
    [{ 'Fn::ImportValue': 'elsewhere' }, 'intrinsic function Fn::ImportValue'],
    [{ 'Fn::Select': [7, ['a']] }, 'no item 7'],
    [{ 'Fn::Join': ['', 'text'] }, 'Fn::Join takes a list'],
  ])('are refused by name: %j', (value, message) => {
    expect(() => resolve(value)).toThrow(message);
  });

  it('leave every other value unchanged', () => {
    const names = fc
      .string()
      .filter((name) => name !== 'Ref' && name !== '__proto__' && !name.startsWith('Fn::'));
    const values = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value')),
        fc.dictionary(names, tie('value'), { noNullPrototype: true }),
      ),
    })).value;
    fc.assert(
      fc.property(values, (value) => {
        expect(resolve(value)).toEqual(value);
      }),
    );
  });
});
