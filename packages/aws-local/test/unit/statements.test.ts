import { describe, expect, it } from 'vitest';
import { statementsOf } from '../../src/permissions/statements.ts';
import { References } from '../../src/template/references.ts';
import { parseTemplate, templateOf } from '../../src/template/template.ts';

const BASIC_EXECUTION = {
  'Fn::Join': [
    '',
    ['arn:', { Ref: 'AWS::Partition' }, ':iam::aws:policy/service-role/AWSLambdaBasicExecutionRole'],
  ],
};

const policyDocument = (...statements: object[]) => ({ Version: '2012-10-17', Statement: statements });

const attached = (statement: object, role = 'Role') => ({
  Type: 'AWS::IAM::Policy',
  Properties: { PolicyName: 'p', PolicyDocument: policyDocument(statement), Roles: [{ Ref: role }] },
});

function statements(resources: object, roleProperties: object = {}) {
  const parsed = parseTemplate({
    Resources: {
      Fn: { Type: 'AWS::Lambda::Function', Properties: { Role: { 'Fn::GetAtt': ['Role', 'Arn'] } } },
      Role: { Type: 'AWS::IAM::Role', Properties: roleProperties },
      ...resources,
    },
  });
  const template = templateOf('Service', parsed.resources, parsed.outputs);
  const references = new References('Service');
  references.define('Table', { ref: 'Events', attributes: { Arn: 'arn:table' } });
  return statementsOf(template, references, template.get('Fn'));
}

describe("a function's statements", () => {
  it('come from the policies in its role and those attached to it, resolved', () => {
    const inline = policyDocument({ Effect: 'Deny', Action: ['s:B'], Resource: '*' });
    expect(
      statements(
        {
          Own: attached({
            Effect: 'Allow',
            Action: 's:A',
            Resource: [
              { 'Fn::GetAtt': ['Table', 'Arn'] },
              { 'Fn::Join': ['', [{ 'Fn::GetAtt': ['Table', 'Arn'] }, '/index/*']] },
            ],
          }),
          Others: attached({ Effect: 'Allow', Action: '*', Resource: '*' }, 'OtherRole'),
        },
        {
          ManagedPolicyArns: [BASIC_EXECUTION],
          Policies: [{ PolicyName: 'inline', PolicyDocument: inline }],
        },
      ),
    ).toEqual([
      { effect: 'Deny', actions: ['s:B'], resources: ['*'] },
      { effect: 'Allow', actions: ['s:A'], resources: ['arn:table', 'arn:table/index/*'] },
    ]);
  });

  it.each([
    ['Condition', { Effect: 'Allow', Action: 's:A', Resource: '*', Condition: {} }],
    ['NotAction', { Effect: 'Allow', NotAction: 's:A', Resource: '*' }],
    ['NotResource', { Effect: 'Allow', Action: 's:A', NotResource: '*' }],
    ['policy variables', { Effect: 'Allow', Action: 's:A', Resource: `arn:\${aws:username}` }],
  ])('are refused with %s', (name, statement) => {
    expect(() => statements({ Own: attached(statement) })).toThrow(
      `Own: the local run cannot judge a policy statement with ${name}`,
    );
  });

  it('are refused with an unsupported managed policy', () => {
    expect(() =>
      statements({}, { ManagedPolicyArns: ['arn:aws:iam::aws:policy/AdministratorAccess'] }),
    ).toThrow(
      'Role: the local run does not know the managed policy arn:aws:iam::aws:policy/AdministratorAccess',
    );
  });
});
