import * as z from 'zod';
import { LocalRunError } from '../errors.ts';
import type { References } from '../template/references.ts';
import type { Resource, Template } from '../template/template.ts';

/** An identity policy statement. Actions and resources may contain the wildcards `*` and `?`. */
export interface Statement {
  effect: 'Allow' | 'Deny';
  actions: string[];
  resources: string[];
}

const oneOrMore = z.union([z.string().transform((one) => [one]), z.array(z.string())]);

const PolicyStatement = z.strictObject({
  Sid: z.string().optional(),
  Effect: z.enum(['Allow', 'Deny']),
  Action: oneOrMore,
  Resource: oneOrMore,
});

const PolicyDocument = z.object({
  Statement: z.union([z.array(z.unknown()), z.unknown().transform((one) => [one])]),
});

/**
 * AWS managed policies by the end of their ARN. They grant logs and traces, which local functions do not send
 * as SDK calls.
 */
const managedPolicies: Readonly<Record<string, Statement[]>> = {
  'aws:policy/service-role/AWSLambdaBasicExecutionRole': [],
  'aws:policy/AWSXRayDaemonWriteAccess': [],
};

/**
 * All permissions of a function: those of its role.
 * @throws LocalRunError as `roleStatements`
 */
export const statementsOf = (template: Template, references: References, fn: Resource): Statement[] =>
  roleStatements(template, references, template.get(roleId(fn)));

/**
 * All permissions of a role: its inline policies and each attached `AWS::IAM::Policy`.
 * @throws LocalRunError for unsupported parts: conditions, `NotAction`, `NotResource`, policy variables and
 *   unknown managed policies
 */
export function roleStatements(template: Template, references: References, role: Resource): Statement[] {
  const managed = z
    .array(z.string())
    .default([])
    .parse(references.resolve(role.properties.ManagedPolicyArns));
  const inline = z
    .array(z.object({ PolicyDocument: z.unknown() }))
    .default([])
    .parse(role.properties.Policies);
  const attached = template
    .ofType('AWS::IAM::Policy')
    .filter((policy) => isAttachedTo(policy, role.logicalId));

  return [
    ...managed.flatMap((arn) => managedStatements(arn, role)),
    ...inline.flatMap((policy) => parseStatements(references.resolve(policy.PolicyDocument), role.logicalId)),
    ...attached.flatMap((policy) =>
      parseStatements(references.resolve(policy.properties.PolicyDocument), policy.logicalId),
    ),
  ];
}

/**
 * Parses a resolved policy document.
 * @param where the policy's logical id, for messages
 * @throws LocalRunError naming an unsupported element
 */
export function parseStatements(document: unknown, where: string): Statement[] {
  return PolicyDocument.parse(document).Statement.map((statement) => {
    const parsed = PolicyStatement.safeParse(statement);
    if (!parsed.success) {
      throw new LocalRunError(
        `${where}: the local run cannot judge a policy statement with ${strangeElement(statement)}`,
      );
    }
    const { Effect, Action, Resource } = parsed.data;
    if (Resource.some((resource) => resource.includes('${'))) {
      throw new LocalRunError(
        `${where}: the local run cannot judge a policy statement with policy variables`,
      );
    }
    return { effect: Effect, actions: Action, resources: Resource };
  });
}

function strangeElement(statement: unknown): string {
  const names = statement && typeof statement === 'object' ? Object.keys(statement) : [];
  return names.find((name) => !Object.hasOwn(PolicyStatement.shape, name)) ?? JSON.stringify(statement);
}

function managedStatements(arn: string, role: Resource): Statement[] {
  const name = arn.split(':iam::')[1] ?? arn;
  const statements = Object.hasOwn(managedPolicies, name) ? managedPolicies[name] : undefined;
  if (!statements)
    throw new LocalRunError(`${role.logicalId}: the local run does not know the managed policy ${arn}`);
  return statements;
}

const RoleReference = z.object({ 'Fn::GetAtt': z.tuple([z.string(), z.literal('Arn')]) });
const RoleNames = z.array(z.object({ Ref: z.string() }));

function roleId(fn: Resource): string {
  const role = RoleReference.safeParse(fn.properties.Role);
  if (!role.success)
    throw new LocalRunError(`${fn.logicalId}: the local run needs a role of the same template`);
  return role.data['Fn::GetAtt'][0];
}

function isAttachedTo(policy: Resource, role: string): boolean {
  return RoleNames.parse(policy.properties.Roles).some(({ Ref }) => Ref === role);
}
