import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, type IApplyRule, NagRuleCompliance } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import { WORKERS } from '../../lib/infra/bundle.ts';
import { casesOf } from '../support/cases.ts';
import { OUTBOUND_CLIENTS } from '../unit/architecture/reach.ts';
import { ENV, EVERYTHING, STAGES, type TestContext } from './contexts.ts';
import { nameOf, ourFunctions, statementsIn } from './reading.ts';
import { ofType, serviceIn, statementsOf, synthesize, uncheckedApp } from './synthesize.ts';

/**
 * Every wildcard that a role or a resource's policy may have, and why. The tests below refuse any other, and
 * any that no template uses.
 */
const WILDCARDS: { type: string; actions: RegExp; resource: RegExp; why: string }[] = [
  {
    type: 'AWS::IAM::Role',
    actions: /^dynamodb:ListStreams$/,
    resource: /^\*$/,
    why: 'Lambda lists streams in the name of a stream’s reader; the action has no resource to be limited to.',
  },
  {
    type: 'AWS::IAM::Role',
    actions: /^s3:(Get|Put|Delete)Object$/,
    resource: /"SiteFiles[^"]*","Arn"\]\},"\/\*"/,
    why: 'The files of the dashboard, in a bucket that is there for them alone, for what copies them there.',
  },
  {
    type: 'AWS::IAM::Role',
    actions: /^ses:SendEmail$/,
    resource: /:configuration-set\/\*"/,
    why: 'The configuration set that a sender may have as its default, which SES checks as well.',
  },
  {
    type: 'AWS::IAM::Role',
    actions: /^ec2:/,
    resource: /^\*$/,
    why: 'Lambda makes the network interfaces of a function, which have no name before; its code is denied it.',
  },
  {
    type: 'AWS::KMS::Key',
    actions: /^kms:\*$/,
    resource: /^\*$/,
    why: 'The account’s administrators, who must be able to change the key; "*" is the key itself.',
  },
  {
    type: 'AWS::KMS::Key',
    actions: /^kms:(Decrypt|DescribeKey|Encrypt|GenerateDataKey\*?|ReEncrypt\*)$/,
    resource: /^\*$/,
    why: 'Use of the key, "*" being the key itself; GenerateDataKey and ReEncrypt have variants that services choose from.',
  },
  {
    type: 'AWS::KMS::Key',
    actions: /^kms:CreateGrant$/,
    resource: /^\*$/,
    why: 'Secrets Manager lets its own rotation use the key, "*" being the key itself; limited to calls by way of it.',
  },
];

interface Allowed {
  id: string;
  type: string;
  action: string;
  resource: string;
  condition: Record<string, unknown>;
}

const documentsOf = ({ Properties }: { Properties: Record<string, unknown> }): unknown[] => [
  ...(Properties.Policies === undefined
    ? []
    : (Properties.Policies as { PolicyDocument: unknown }[]).map(({ PolicyDocument }) => PolicyDocument)),
  ...[Properties.PolicyDocument, Properties.KeyPolicy].filter((document) => document !== undefined),
];

/** The permissions of all resources' policies, one action and one resource at a time. */
function allowed(stage: TestContext['stage']): Allowed[] {
  const template = synthesize({ ...EVERYTHING, stage });
  return [
    'AWS::IAM::Role',
    'AWS::IAM::Policy',
    'AWS::KMS::Key',
    'AWS::SQS::QueuePolicy',
    'AWS::SNS::TopicPolicy',
  ].flatMap((type) =>
    ofType(template, type).flatMap(([id, resource]) =>
      documentsOf(resource)
        .flatMap(statementsIn)
        .filter(({ effect }) => effect === 'Allow')
        .flatMap(({ actions, resources, condition }) =>
          actions.flatMap((action) =>
            resources.map((resource) => ({
              id,
              type,
              action,
              resource: typeof resource === 'string' ? resource : JSON.stringify(resource),
              condition,
            })),
          ),
        ),
    ),
  );
}

const isWildcard = ({ action, resource }: Allowed): boolean => action.includes('*') || resource.includes('*');
const covers = (wildcard: (typeof WILDCARDS)[number], { type, action, resource }: Allowed): boolean =>
  wildcard.type === type && wildcard.actions.test(action) && wildcard.resource.test(resource);

describe.each(STAGES)('the permissions in stage %s', (stage) => {
  const all = allowed(stage);

  it('contain no wildcard without a reason', () => {
    expect(all.length).toBeGreaterThan(100);
    expect(
      all.filter((one) => isWildcard(one) && !WILDCARDS.some((wildcard) => covers(wildcard, one))),
    ).toEqual([]);
  });

  it('contain each listed wildcard', () => {
    for (const wildcard of WILDCARDS)
      expect(
        all.some((one) => isWildcard(one) && covers(wildcard, one)),
        wildcard.why,
      ).toBe(true);
  });

  it('give no role access to keys: key policies name the principals and services', () => {
    expect(all.filter(({ type, action }) => type === 'AWS::IAM::Role' && action.startsWith('kms:'))).toEqual(
      [],
    );
    const used = all.filter(
      ({ type, action }) => type === 'AWS::KMS::Key' && action !== 'kms:*' && action !== 'kms:DescribeKey',
    );
    expect(used.length).toBeGreaterThan(0);
    for (const { id, condition } of used) expect(Object.keys(condition), id).not.toEqual([]);
  });

  it('come from no AWS managed policy, except the gateway’s for logs and CodeDeploy’s for aliases', () => {
    const managed = ofType(synthesize({ stage }), 'AWS::IAM::Role').flatMap(([, { Properties }]) =>
      Properties.ManagedPolicyArns === undefined ? [] : [JSON.stringify(Properties.ManagedPolicyArns)],
    );
    for (const arn of managed)
      expect(arn).toMatch(/AmazonAPIGatewayPushToCloudWatchLogs|AWSCodeDeployRoleForLambdaLimited/);
  });

  it('to functions belong to roles of the path that key policies name', () => {
    const roles = ofType(synthesize({ stage }), 'AWS::IAM::Role').filter(([, { Properties }]) =>
      JSON.stringify(Properties.AssumeRolePolicyDocument).includes('lambda.amazonaws.com'),
    );
    for (const [id, { Properties }] of roles)
      expect(Properties.Path, id).toBe(`/conversation-service/${stage}/`);
  });
});

/** All findings of cdk-nag without acknowledgements. */
class EveryFinding extends AwsSolutionsChecks {
  readonly found: { id: string; path: string }[] = [];

  protected override applyRule(rule: IApplyRule): void {
    const id = `AwsSolutions-${rule.ruleSuffixOverride ?? rule.rule.name}`;
    const { path } = rule.node.node;
    try {
      const result = rule.rule(rule.node);
      if (Array.isArray(result)) this.found.push(...result.map((part) => ({ id: `${id}[${part}]`, path })));
      else if (result === NagRuleCompliance.NON_COMPLIANT) this.found.push({ id, path });
    } catch {
      this.found.push({ id, path });
    }
  }
}

const acknowledgedIn = (app: App): { id: string; path: string }[] =>
  app.node
    .findAll()
    .flatMap(({ node }) =>
      node.metadata
        .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
        .flatMap(({ data }) =>
          Object.keys(data).map((id) => ({ id: id.replace(/^annotation::/i, ''), path: node.path })),
        ),
    );

describe('cdk-nag', () => {
  const isOf = (first: { id: string; path: string }, second: { id: string; path: string }): boolean =>
    first.id === second.id && (first.path === second.path || first.path.startsWith(`${second.path}/`));

  it('finds exactly the acknowledged findings, over all stages, with and without an account and region', () => {
    const unused = new Map<string, boolean>();
    for (const context of casesOf<TestContext[]>(
      [{ stage: 'dev' }, { env: ENV }],
      [{ stage: 'staging' }, {}],
    )) {
      const app = uncheckedApp(context);
      serviceIn(app);
      const checks = new EveryFinding(app);
      checks.validateScope(app);
      const acknowledged = acknowledgedIn(app);
      expect(checks.found.filter((one) => !acknowledged.some((other) => isOf(one, other)))).toEqual([]);
      for (const other of acknowledged) {
        const name = `${other.id} of ${other.path.replace(/^ConversationService-[a-z]+\//, '')}`;
        const isUsed = checks.found.some((one) => isOf(one, other));
        unused.set(name, (unused.get(name) ?? true) && !isUsed);
      }
    }
    expect(unused.size).toBeGreaterThan(10);
    expect([...unused].filter(([, isUnused]) => isUnused).map(([name]) => name)).toEqual([]);
  });
});

const template = synthesize(EVERYTHING);
const inNetwork = ourFunctions(template).filter(([, { Properties }]) => 'VpcConfig' in Properties);

/** Workers whose code makes a client for customers' hosts. */
const connecting = WORKERS.filter((name) => {
  const code = readFileSync(join(import.meta.dirname, `../../functions/workers/${name}.ts`), 'utf8');
  return OUTBOUND_CLIENTS.some((client) => code.includes(`${client}(`));
});

it('a network has exactly the functions whose code connects to the hosts of customers, with IPv6', () => {
  expect(inNetwork.map(([, fn]) => nameOf(fn)).sort()).toEqual([...connecting].sort());
  expect(connecting.length).toBeGreaterThan(1);
  for (const [id, { Properties }] of inNetwork)
    expect(Properties.VpcConfig, id).toMatchObject({ Ipv6AllowedForDualStack: true });
});

it('Lambda may make the network interfaces of a function, and its code may not', () => {
  for (const [id, fn] of inNetwork) {
    const [allow, deny] = statementsIn({ Statement: statementsOf(template, fn) }).filter(({ actions }) =>
      actions.includes('ec2:CreateNetworkInterface'),
    );
    expect([allow?.effect, deny?.effect, deny?.actions], id).toEqual(['Allow', 'Deny', allow?.actions]);
    expect(JSON.stringify(deny?.condition), id).toContain(`function:${fn.Properties.FunctionName}"`);
  }
});

it('a network tells what judges receivers that IPv6 works; without it there is none', () => {
  const variables = (name: string, context: TestContext) =>
    ourFunctions(synthesize(context))
      .filter(([, fn]) => nameOf(fn) === name)
      .map(([, { Properties }]) => Object(Properties.Environment).Variables.IPV6_RECEIVERS);
  for (const name of ['register-webhook', 'create-source', ...connecting]) {
    expect(variables(name, EVERYTHING), name).toEqual(['allow']);
    expect(variables(name, {}), name).toEqual([undefined]);
  }
  expect(ofType(synthesize(), 'AWS::EC2::VPC')).toEqual([]);
});
