import { describe, expect, it } from 'vitest';
import { releaseOf } from '../../../lib/release-check/assembly.ts';
import type { Direction } from '../../../lib/release-check/finding.ts';
import { checkUpdate } from '../../../lib/release-check/rules.ts';

type Resources = Record<string, object>;

/** A stack with the resources, and others by their paths. */
const release = (resources: Resources, others: Record<string, object> = {}) =>
  releaseOf({ Service: { Resources: resources }, ...others });

const resource = (Type: string, Properties: object = {}, more: object = {}) => ({
  Type,
  Properties,
  ...more,
});
const kept = { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' };
const key = (AttributeName: string, KeyType = 'HASH') => ({ AttributeName, KeyType });
const string = (AttributeName: string, AttributeType = 'S') => ({ AttributeName, AttributeType });
const index = (IndexName: string, attribute = 'due') => ({
  IndexName,
  KeySchema: [key(attribute)],
  Projection: { ProjectionType: 'ALL' },
});
const table = (properties: object = {}, policies: object = kept) =>
  resource(
    'AWS::DynamoDB::Table',
    { KeySchema: [key('pk')], AttributeDefinitions: [string('pk'), string('due')], ...properties },
    policies,
  );
const part = (PathPart: string) =>
  resource('AWS::ApiGateway::Resource', { ParentId: { Ref: 'Parent' }, RestApiId: { Ref: 'Api' }, PathPart });
const api = (paths: string[], Mode?: string) =>
  resource('AWS::ApiGateway::RestApi', {
    Mode,
    Body: { paths: Object.fromEntries(paths.map((it) => [it, {}])) },
  });
const fn = (name: string | undefined, more: object = {}) =>
  resource('AWS::Lambda::Function', { FunctionName: name, ...more });
const domain = (Domain: string, more: object = {}) =>
  resource('AWS::Cognito::UserPoolDomain', { UserPoolId: { Ref: 'Pool' }, Domain, ...more });
const mapping = resource('AWS::Lambda::EventSourceMapping', {
  EventSourceArn: { 'Fn::GetAtt': ['Queue', 'Arn'] },
  FunctionName: { Ref: 'Worker' },
});
const exporting = (name: string, value: string) => ({
  Resources: {},
  Outputs: { Out: { Value: value, Export: { Name: name } } },
});
const importing = { Resources: { Fn: fn(undefined, { Role: { 'Fn::ImportValue': 'Arn' } }) } };
const repeated = (count: number): Resources =>
  Object.fromEntries(Array.from({ length: count }, (_, each) => [`R${each}`, resource('AWS::IAM::Role')]));

/** Rule, level and sentence of an update. */
function check(
  from: ReturnType<typeof release>,
  to: ReturnType<typeof release>,
  direction: Direction = 'deploy',
  accepted: Record<string, string> = {},
) {
  return checkUpdate(from, to, direction, accepted).map(({ rule, level, message }) => [
    `${level} ${rule}`,
    message,
  ]);
}

describe('release check refuses', () => {
  it.each<[string, Parameters<typeof check>, finding: string, sentence: RegExp]>([
    [
      'an export that goes while another stack imports it',
      [
        release({}, { Data: exporting('Arn', 'a'), Workers: importing }),
        release({}, { Data: { Resources: {} }, Workers: { Resources: {} } }),
      ],
      'error export-in-use',
      /^Data removes or changes exports that Workers imports.*: Arn\. Keep them for one release/,
    ],
    [
      'an export whose value changes',
      [
        release({}, { Data: exporting('Arn', 'a'), Workers: importing }),
        release({}, { Data: exporting('Arn', 'b'), Workers: importing }),
      ],
      'error export-in-use',
      /Arn/,
    ],
    [
      'a variable path part beside one that goes afterwards',
      [release({ Old: part('{proxy+}') }), release({ New: part('{id}') })],
      'error path-variable',
      /: New \(\{id\} beside \{proxy\+\}\)\. Give both one name/,
    ],
    [
      'two variable parts in an imported document',
      [release({}), release({ Api: api(['/a/{id}', '/a/{other}/b'], 'overwrite') })],
      'error path-variable',
      /\/a\/\{id\} beside \/a\/\{other\}\./,
    ],
    [
      'a variable part beside one that a merged document left',
      [release({ Api: api(['/a/{id}']) }), release({ Api: api(['/a/{other}']) })],
      'error path-variable',
      /\/a\/\{other\} beside \/a\/\{id\}/,
    ],
    [
      'another type of a resource',
      [release({ Table: table() }), release({ Table: resource('AWS::DynamoDB::GlobalTable', {}, kept) })],
      'error type-changed',
      /Table \(AWS::DynamoDB::Table to AWS::DynamoDB::GlobalTable\)\. Give the new resource another logical id/,
    ],
    [
      'the replacement of a named resource',
      [
        release({ Table: table({ TableName: 'Rows' }) }),
        release({ Table: table({ TableName: 'Rows', KeySchema: [key('id')] }) }),
      ],
      'error replaced-name',
      /Table \(KeySchema\)\. Change the name as well/,
    ],
    [
      'a name under another logical id',
      [release({ Send: fn('service-send') }), release({ SendFn: fn('service-send') })],
      'error moved-name',
      /refuses in Service what Service has under another logical id: SendFn \(was Send\)\. Keep the logical id/,
    ],
    [
      'a name that moves to a nested stack',
      [
        release({ Send: fn('service-send') }, { 'Service/Part': { Resources: {} } }),
        release({}, { 'Service/Part': { Resources: { Send: fn('service-send') } } }),
      ],
      'error moved-name',
      /refuses in Service\/Part what Service has/,
    ],
    [
      'the same event source mapping under another logical id',
      [release({ Mapping: mapping }), release({ Other: mapping })],
      'error moved-name',
      /Other \(was Mapping\)/,
    ],
    [
      'another prefix of a user pool',
      [release({ Domain: domain('old') }), release({ Domain: domain('new') })],
      'error second-domain',
      /Domain \(new beside old\)\. Remove the old one in a release of its own/,
    ],
    [
      'other keys of a table, which would be empty',
      [release({ Table: table() }), release({ Table: table({ KeySchema: [key('id')] }) })],
      'error data-replaced',
      /empty one and keeps the old one outside of it: Table \(KeySchema\)\. Leave the property/,
    ],
    [
      'another type of a key',
      [
        release({ Table: table() }),
        release({ Table: table({ AttributeDefinitions: [string('pk', 'N'), string('due')] }) }),
      ],
      'error data-replaced',
      /Table \(AttributeDefinitions\)/,
    ],
    [
      'two new indexes of a table',
      [
        release({ Table: table() }),
        release({ Table: table({ GlobalSecondaryIndexes: [index('A'), index('B')] }) }),
      ],
      'error index-count',
      /Table \(A, B\)\. Release the changes one by one/,
    ],
    [
      'other keys of an index',
      [
        release({ Table: table({ GlobalSecondaryIndexes: [index('A')] }) }),
        release({ Table: table({ GlobalSecondaryIndexes: [index('A', 'pk')] }) }),
      ],
      'error index-changed',
      /Table \(A\)\. Add an index of another name/,
    ],
    [
      'a retained table that leaves',
      [release({ Table: table() }), release({})],
      'error data-left',
      /created again empty: Table \(AWS::DynamoDB::Table\)\. Keep them in the template, or copy/,
    ],
    [
      'a retained table with a name that leaves',
      [release({ Table: table({ TableName: 'Rows' }) }), release({}), 'roll back'],
      'error retained-name',
      /refuses to create them again under their explicit name: Table/,
    ],
    [
      'a nested stack that leaves with its data',
      [release({}, { 'Service/Data': { Resources: { Table: table() } } }), release({})],
      'error data-left',
      /^These leave Service\/Data/,
    ],
    [
      'a stack that the app no longer has',
      [releaseOf({ Old: { Resources: {} }, 'Old/Data': { Resources: { Table: table() } } }), release({})],
      'error stack-abandoned',
      /no longer has the stack Old: .*without its data \(Table .*Keep the stack/,
    ],
    [
      'more resources than a stack may have',
      [release({}), release(repeated(501))],
      'error limit',
      /^Service is .*: resources \(501 of 500\)\. Move/,
    ],
  ])('%s', (_, update, finding, sentence) => {
    expect(check(...update)).toEqual([[finding, expect.stringMatching(sentence)]]);
  });
});

describe('release check warns of', () => {
  it.each<[string, Parameters<typeof check>, finding: string]>([
    [
      'a retained table that a rollback leaves',
      [release({ Table: table() }), release({}), 'roll back'],
      'warning data-left',
    ],
    ['a table that is deleted', [release({ Table: table({}, {}) }), release({})], 'warning data-deleted'],
    [
      'a table without protection that is replaced',
      [release({ Table: table({}, {}) }), release({ Table: table({ KeySchema: [key('id')] }, {}) })],
      'warning data-replaced',
    ],
    [
      'a stack with nearly as many resources as it may have',
      [release({}), release(repeated(460))],
      'warning limit',
    ],
  ])('%s', (_, update, finding) => {
    expect(check(...update).map(([found]) => found)).toEqual([finding]);
  });
});

describe('release check accepts', () => {
  it.each<[string, Parameters<typeof check>]>([
    [
      'an equal release',
      [release({ Table: table(), Send: fn('send') }), release({ Table: table(), Send: fn('send') })],
    ],
    [
      'an export that nothing imports',
      [release({}, { Data: exporting('Arn', 'a') }), release({}, { Data: { Resources: {} } })],
    ],
    [
      'another variable part in a document that replaces the earlier one',
      [release({ Api: api(['/a/{proxy+}'], 'overwrite') }), release({ Api: api(['/a/{id}'], 'overwrite') })],
    ],
    [
      'a variable part below another parent',
      [
        release({ Old: part('{proxy+}') }),
        release({
          New: resource('AWS::ApiGateway::Resource', {
            ParentId: { Ref: 'Other' },
            RestApiId: { Ref: 'Api' },
            PathPart: '{id}',
          }),
          Old: part('{proxy+}'),
        }),
      ],
    ],
    [
      'a domain of its own beside a prefix',
      [
        release({ A: domain('a') }),
        release({ A: domain('a'), B: domain('b.example.com', { CustomDomainConfig: {} }) }),
      ],
    ],
    [
      'one new index',
      [release({ Table: table() }), release({ Table: table({ GlobalSecondaryIndexes: [index('A')] }) })],
    ],
    ['a function that goes, and one that comes', [release({ A: fn('a') }), release({ B: fn('b') })]],
    ['a function without a name that moves', [release({ A: fn(undefined) }), release({ B: fn(undefined) })]],
    [
      'the replacement of a resource without a name or data',
      [
        release({ A: resource('AWS::SNS::Topic', { TopicName: 'a' }) }),
        release({ A: resource('AWS::SNS::Topic', { TopicName: 'b' }) }),
      ],
    ],
    ['a new table', [release({}), release({ Table: table({ TableName: 'Rows' }) })]],
    ['a log group that leaves', [release({ Logs: resource('AWS::Logs::LogGroup', {}, kept) }), release({})]],
  ])('%s', (_, update) => {
    expect(check(...update)).toEqual([]);
  });

  it('what a reason says is intended', () => {
    const accepted = { 'deploy data-left Table': 'Its rows are in Rows.' };
    expect(check(release({ Table: table() }), release({}), 'deploy', accepted)).toEqual([
      ['accepted data-left', expect.stringMatching(/Accepted: Its rows are in Rows\.$/)],
    ]);
  });
});
