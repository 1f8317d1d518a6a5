import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OWN_KEY } from './contexts.ts';
import { all, ourFunctions, statementsIn } from './reading.ts';
import { ofType, synthesize } from './synthesize.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/guides/deploy.md'), 'utf8');

/** The principals of a key's policy, and their names in docs/guides/deploy.md. */
const USERS: { principal: RegExp; condition?: RegExp; said: string }[] = [
  {
    principal: /^\{"AWS":"\*"\}$/,
    condition: /"aws:PrincipalArn".*role\/conversation-service\//,
    said: "the service's own roles, through DynamoDB, Secrets Manager, SQS, EventBridge and Lambda only",
  },
  {
    principal: /"Service":.*(events|cloudwatch|logs)/,
    said: 'EventBridge, CloudWatch and CloudWatch Logs in their own name',
  },
  {
    principal: /:root"/,
    condition: /"kms:ViaService".*secretsmanager/,
    said: 'principals of the account that may use its secrets, through Secrets Manager',
  },
  { principal: /:root"/, condition: /^\{\}$/, said: 'administrators whose IAM policies allow KMS actions' },
];

const usersOf = (principal: unknown, condition: unknown) =>
  USERS.filter(
    (user) =>
      user.principal.test(JSON.stringify(principal)) &&
      (user.condition ?? /./).test(JSON.stringify(condition)),
  );

/** The policy of the stage's own key, as the guide has it: with names in place of references. */
const written = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(written);
  if (value === null || typeof value !== 'object') return value;
  const [, parts] = (Object(value)['Fn::Join'] ?? []) as [string?, unknown[]?];
  if (parts)
    return parts.map((part) => (typeof part === 'string' ? part : PLACES[Object(part).Ref])).join('');
  const { Ref } = Object(value);
  return Ref
    ? PLACES[Ref]
    : Object.fromEntries(Object.entries(value).map(([name, part]) => [name, written(part)]));
};
const PLACES: Record<string, string> = {
  'AWS::Partition': 'aws',
  'AWS::Region': '<region>',
  'AWS::AccountId': '<account>',
};

describe("the deployment guide's key of one's own", () => {
  it('has the statements of the key that a stage makes itself', () => {
    const [, block = ''] = /```json\n(\[[^`]*\])\n```/.exec(PAGE) ?? [];
    const [[, key] = []] = all(synthesize(), 'AWS::KMS::Key');
    const ours = [Object(key?.Properties.KeyPolicy).Statement]
      .flat()
      // The CDK adds some for the account, and one for the bus, which those of EventBridge cover.
      .filter((statement) => !/:root|event-bus/.test(JSON.stringify(statement)));
    expect(JSON.parse(block.replaceAll('/<stage>/', '/prod/'))).toEqual(written(ours));
  });

  it('is the key of all data, with no key of the stage beside it', () => {
    const { keyArn } = OWN_KEY;
    const given = synthesize(OWN_KEY);
    expect(ofType(given, 'AWS::KMS::Key')).toEqual([]);
    const own = all(synthesize(), 'AWS::KMS::Key').map(([id]) => id);
    const count = (of: ReturnType<typeof synthesize>, part: string) => JSON.stringify(of).split(part).length;
    const uses = count(synthesize(), `{"Fn::GetAtt":["${own[0]}","Arn"]}`);
    const functions = ourFunctions(given);
    for (const [id, { Properties }] of functions) expect(Properties.KmsKeyArn, id).toBe(keyArn);
    // The alias is one of them.
    expect(count(given, `"${keyArn}"`) - functions.length).toBe(uses - 1);
  });

  it('is absent in a stage of low cost, where AWS encrypts', () => {
    const cheap = synthesize({ stage: 'dev' });
    expect(JSON.stringify(cheap)).not.toMatch(/Kms|KMS/);
    for (const [id, { Properties }] of all(cheap, 'AWS::SQS::Queue'))
      expect(Properties.SqsManagedSseEnabled, id).toBe(true);
  });
});

describe("the deployment guide's list of key users", () => {
  const statements = all(synthesize(), 'AWS::KMS::Key').flatMap(([id, { Properties }]) =>
    statementsIn(Properties.KeyPolicy).map((statement) => ({ id, ...statement })),
  );

  it('names every principal of a key policy', () => {
    for (const { id, effect, principal, condition } of statements) {
      expect(effect, id).toBe('Allow');
      expect(usersOf(principal, condition), `${id}: ${JSON.stringify(principal)}`).toHaveLength(1);
    }
    for (const { said } of USERS) expect(PAGE.replaceAll(/\s+/g, ' ')).toContain(said);
  });

  it('names no other principal', () => {
    const used = new Set(
      statements.flatMap(({ principal, condition }) => usersOf(principal, condition)).map(({ said }) => said),
    );
    expect(used.size).toBe(USERS.length);
  });
});
