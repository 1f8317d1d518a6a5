import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { all, statementsIn } from './reading.ts';
import { synthesize } from './synthesize.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/guides/deploy.md'), 'utf8');

/** The principals of a key's policy, and their names in docs/guides/deploy.md. */
const USERS: { principal: RegExp; condition?: RegExp; said: string }[] = [
  {
    principal: /^\{"AWS":"\*"\}$/,
    condition: /"aws:PrincipalArn".*role\/conversation-service\//,
    said: "the service's own roles, through DynamoDB, Secrets Manager, SQS and EventBridge only",
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
