import { describe, expect, it } from 'vitest';
import type { Template } from '../../../lib/release-check/assembly.ts';
import { checkUpdate } from '../../../lib/release-check/rules.ts';

const resource = (Type: string, Properties: object = {}, more: object = {}) => ({
  Type,
  Properties,
  ...more,
});
const kept = { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' };
const key = (AttributeName: string) => ({ AttributeName, KeyType: 'HASH' });
const table = (properties: object = {}, policies: object = kept) =>
  resource('AWS::DynamoDB::Table', { KeySchema: [key('pk')], ...properties }, policies);
const typed = (AttributeType: string) => ({ AttributeDefinitions: [{ AttributeName: 'pk', AttributeType }] });
const indexed = (...names: string[]) => ({
  GlobalSecondaryIndexes: names.map((IndexName) => ({ IndexName, KeySchema: [key('due')], Projection: {} })),
});
const part = (PathPart: string, parent = 'Parent') =>
  resource('AWS::ApiGateway::Resource', { ParentId: { Ref: parent }, RestApiId: { Ref: 'Api' }, PathPart });
const api = (Mode: string | undefined, ...paths: string[]) =>
  resource('AWS::ApiGateway::RestApi', {
    Mode,
    Body: { paths: Object.fromEntries(paths.map((it) => [it, {}])) },
  });
const fn = (FunctionName?: string, more: object = {}) =>
  resource('AWS::Lambda::Function', { FunctionName, ...more });
const alias = (FunctionName: string) =>
  resource('AWS::Lambda::Alias', { Name: 'live', FunctionName: { Ref: FunctionName } });
const role = (RoleName?: string, Path = '/') => resource('AWS::IAM::Role', { RoleName, Path });
const domain = (Domain: string, more: object = {}) =>
  resource('AWS::Cognito::UserPoolDomain', { UserPoolId: { Ref: 'Pool' }, Domain, ...more });
const mapping = resource('AWS::Lambda::EventSourceMapping', {
  EventSourceArn: { 'Fn::GetAtt': ['Queue', 'Arn'] },
  FunctionName: { Ref: 'Worker' },
});
const roles = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, each) => [`R${each}`, role()]));

/** The template of a stack, and those of others by their paths. */
const S = (Resources: object, others: object = {}) => ({ Service: { Resources }, ...others });
/** A nested stack. */
const nested = (Resources: object) => ({ 'Service/Part': { Resources } });
/** A stack with an export beside one that imports it. */
const exporting = (Value?: string) => ({
  Data: { Resources: {}, Outputs: Value === undefined ? {} : { Out: { Value, Export: { Name: 'Arn' } } } },
  Workers: { Resources: { Fn: fn(undefined, { Role: Value && { 'Fn::ImportValue': 'Arn' } }) } },
});

const releaseOf = (templates: object) => new Map<string, Template>(Object.entries(templates));

const check = (from: object, to: object, direction: 'deploy' | 'roll back' = 'deploy', accepted = {}) =>
  checkUpdate(releaseOf(from), releaseOf(to), direction, accepted).map(
    ({ rule, level, message }) => `${level} ${rule}: ${message}`,
  );

describe('release check', () => {
  it.each<[string, from: object, to: object, finding: RegExp, direction?: 'roll back']>([
    [
      'an export that goes while another stack imports it',
      exporting('a'),
      exporting(),
      /^error export-in-use: Data removes .* that Workers imports.*: Arn\. Keep them for one release/,
    ],
    ['an export whose value changes', exporting('a'), exporting('b'), /^error export-in-use: .*: Arn\./],
    [
      'a variable path part beside one that goes afterwards',
      S({ Old: part('{proxy+}') }),
      S({ New: part('{id}') }),
      /^error name-taken: .*: New \(a variable part, was Old\)\. .*remove the old one in a release of its own/,
    ],
    [
      'two variable parts in an imported document',
      S({}),
      S({ Api: api('overwrite', '/a/{id}', '/a/{other}/b') }),
      /^error path-variable: .*: \/a\/\{id\} beside \/a\/\{other\}\. Give both one name/,
    ],
    [
      'a variable part beside one that a merged document left',
      S({ Api: api('merge', '/a/{id}') }),
      S({ Api: api('merge', '/a/{other}') }),
      /^error path-variable: .*: \/a\/\{other\} beside \/a\/\{id\}\./,
    ],
    [
      'another type of a resource',
      S({ Table: table() }),
      S({ Table: resource('AWS::DynamoDB::GlobalTable', {}, kept) }),
      /^error type-changed: .*: Table \(\S+Table to \S+GlobalTable\)\. Give the new resource another logical id/,
    ],
    [
      'the replacement of a resource with a name',
      S({ Role: role('a') }),
      S({ Role: role('a', '/b/') }),
      /^error name-taken: .*: Role \(a, replaced for Path\)\. Keep .*, change the name/,
    ],
    [
      'a name under another logical id',
      S({ Send: fn('send') }),
      S({ SendFn: fn('send') }),
      /^error name-taken: .*: SendFn \(send, was Send\)\. Keep the logical id/,
    ],
    [
      'a name that moves to a nested stack',
      S({ Send: fn('send') }, nested({})),
      S({}, nested({ Send: fn('send') })),
      /^error name-taken: .* in Service\/Part what only one resource may have, and Service still has/,
    ],
    [
      'an event source mapping under another logical id',
      S({ Mapping: mapping }),
      S({ Other: mapping }),
      /^error name-taken: .*: Other \(was Mapping\)/,
    ],
    [
      'another prefix of a user pool',
      S({ Domain: domain('a') }),
      S({ Domain: domain('b') }),
      /^error name-taken: .*: Domain \(.*replaced for Domain\)\. .*remove the old one in a release of its own/,
    ],
    [
      'other keys of a table, which would be empty',
      S({ Table: table() }),
      S({ Table: table({ KeySchema: [key('id')] }) }),
      /^error data-replaced: .* leaves the old one outside of it: Table \(KeySchema\)\. Leave the property/,
    ],
    [
      'another type of a key',
      S({ Table: table(typed('S')) }),
      S({ Table: table(typed('N')) }),
      /^error data-replaced: .*: Table \(AttributeDefinitions\)/,
    ],
    [
      'two new indexes of a table',
      S({ Table: table() }),
      S({ Table: table(indexed('A', 'B')) }),
      /^error index-count: .*: Table \(A, B\)\. Release the changes one by one/,
    ],
    [
      'other keys of an index',
      S({ Table: table(indexed('A')) }),
      S({
        Table: table({
          GlobalSecondaryIndexes: [{ IndexName: 'A', KeySchema: [key('pk')], Projection: {} }],
        }),
      }),
      /^error index-changed: .*: Table \(A\)\. Add an index of another name/,
    ],
    [
      'a retained table that leaves',
      S({ Table: table() }),
      S({}),
      /^error data-left: .* created again empty: Table \(\S+\)\. Keep them in the template, or copy/,
    ],
    [
      'a retained table with a name that leaves',
      S({ Table: table({ TableName: 'Rows' }) }),
      S({}),
      /^error retained-name: .*: Table \(\S+\)\. Leave the name to CloudFormation/,
    ],
    [
      'a nested stack with data',
      S({}, nested({ Table: table() })),
      S({}),
      /^error data-left: .* Service\/Part, stay/,
    ],
    [
      'a stack that the app no longer has',
      { Old: { Resources: {} }, 'Old/Data': { Resources: { Table: table() } } },
      S({}),
      /^error stack-abandoned: .* no longer has: Old\. .* without their data \(1 AWS::DynamoDB::Table\), .* Keep/,
    ],
    [
      'more resources than a stack may have',
      S({}),
      S(roles(501)),
      /^error limit: Service is .*: resources \(501 of 500\)\. Move resources/,
    ],
    [
      'a retained table that a rollback leaves',
      S({ Table: table() }),
      S({}),
      /^warning data-left/,
      'roll back',
    ],
    ['a table that is deleted', S({ Table: table({}, {}) }), S({}), /^warning data-deleted: .*: Table/],
    [
      'a table that is deleted and replaced',
      S({ Table: table({}, {}) }),
      S({ Table: table({ KeySchema: [key('id')] }, {}) }),
      /^warning data-replaced: .* deletes the old one: Table/,
    ],
    ['a stack with nearly too many resources', S({}), S(roles(460)), /^warning limit: .*460 of 500/],
  ])('finds %s', (_, from, to, finding, direction) => {
    expect(check(from, to, direction)).toEqual([expect.stringMatching(finding)]);
  });

  it.each<[string, from: object, to: object]>([
    ['an equal release', S({ Table: table(), Send: fn('send') }), S({ Table: table(), Send: fn('send') })],
    [
      'another variable of a document',
      S({ A: api('overwrite', '/a/{x+}') }),
      S({ A: api('overwrite', '/a/{y}') }),
    ],
    [
      'a variable part below another parent',
      S({ A: part('{a}') }),
      S({ A: part('{a}'), B: part('{b}', 'Other') }),
    ],
    [
      "a domain of one's own beside a prefix",
      S({ A: domain('a') }),
      S({ A: domain('a'), B: domain('b.example.com', { CustomDomainConfig: {} }) }),
    ],
    ['one new index', S({ Table: table() }), S({ Table: table(indexed('A')) })],
    [
      'a name that each function has once',
      S({ A: alias('A'), B: alias('B') }),
      S({ A: alias('A'), B: alias('B'), C: alias('C') }),
    ],
    ['a function that goes, and one that comes', S({ A: fn('a') }), S({ B: fn('b') })],
    ['a function without a name that moves', S({ A: fn() }), S({ B: fn() })],
    ['the replacement of a name', S({ Role: role('a') }), S({ Role: role('b') })],
    ['a new table', S({}), S({ Table: table({ TableName: 'Rows' }) })],
    ['a log group that leaves', S({ Logs: resource('AWS::Logs::LogGroup', {}, kept) }), S({})],
  ])('finds nothing about %s', (_, from, to) => {
    expect(check(from, to)).toEqual([]);
  });

  it('accepts what a reason says is intended', () => {
    const accepted = { 'deploy data-left Table': 'Its rows are in Rows.' };
    expect(check(S({ Table: table() }), S({}), 'deploy', accepted)).toEqual([
      expect.stringMatching(/^accepted data-left: .* Accepted: Its rows are in Rows\.$/),
    ]);
  });
});
