import * as z from 'zod';
import { ACCOUNT, functionArn, PARTITION, REGION } from '../arns.ts';
import { LocalRunError } from '../errors.ts';
import type { References } from '../template/references.ts';
import type { Template } from '../template/template.ts';
import { allows } from './permissions.ts';
import { allowsService, parseResourcePolicy, type ResourceStatement } from './resource-policies.ts';
import { roleStatements } from './statements.ts';

const SERVICE = 'apigateway.amazonaws.com';
const INVOKE = 'lambda:InvokeFunction';

const PermissionProperties = z.object({
  Action: z.string(),
  FunctionName: z.string(),
  Principal: z.string(),
  SourceArn: z.string().optional(),
  SourceAccount: z.string().optional(),
});

/** A method that invokes a function. */
interface GatewayInvocation {
  method: string;
  /** `/v1/things/{id}`. */
  resourcePath: string;
  functionArn: string;
  /** ARN of the role of the integration; without one, permissions of the function decide. */
  Credentials?: string | undefined;
}

/**
 * Whether API Gateway may invoke a function: by the integration's role, which it must be able to assume, or
 * by a permission of the function (API Gateway Developer Guide, Control access to a REST API with IAM
 * permissions). Otherwise AWS answers a request with a 500; the local run does not start.
 */
export function gatewayInvocations(
  template: Template,
  references: References,
  { apiId, stage }: { apiId: string; stage: string },
) {
  const permissions = permissionsByFunction(template, references);
  const roles = new Map(
    template
      .ofType('AWS::IAM::Role')
      .map((role) => [String(references.resolve({ 'Fn::GetAtt': [role.logicalId, 'Arn'] })), role]),
  );

  function findRefusal(invocation: GatewayInvocation): string | undefined {
    const { method, resourcePath, functionArn: target, Credentials } = invocation;
    if (Credentials === undefined) {
      const path = resourcePath.replaceAll(/\{[^}]+\}/g, '*');
      const source = `arn:${PARTITION}:execute-api:${REGION}:${ACCOUNT}:${apiId}/${stage}/${method === 'ANY' ? '*' : method}${path}`;
      const request = {
        service: SERVICE,
        action: INVOKE,
        resource: target,
        context: { 'aws:SourceArn': source, 'aws:SourceAccount': ACCOUNT },
      };
      return allowsService(permissions.get(target) ?? [], request)
        ? undefined
        : `${target} has no permission for ${SERVICE} with the source ${source}`;
    }
    const role = roles.get(Credentials);
    if (role === undefined) return `the template has no role ${Credentials}`;
    const trust = parseResourcePolicy(
      withResource(references.resolve(role.properties.AssumeRolePolicyDocument)),
      role.logicalId,
    );
    const assumption = { service: SERVICE, action: 'sts:AssumeRole', resource: Credentials, context: {} };
    if (!allowsService(trust, assumption)) return `${SERVICE} may not assume ${role.logicalId}`;
    return allows(roleStatements(template, references, role), INVOKE, target)
      ? undefined
      : `${role.logicalId} does not allow ${INVOKE} on ${target}`;
  }

  return {
    /**
     * @param where the method's logical id, for the message
     * @throws LocalRunError when the invocation is not allowed
     */
    require(invocation: GatewayInvocation, where: string): void {
      const refusal = findRefusal(invocation);
      if (refusal !== undefined)
        throw new LocalRunError(`${where}: API Gateway may not invoke it: ${refusal}`);
    },
  };
}

/** Statements by the function's ARN. A permission names a function by its name or ARN. */
function permissionsByFunction(template: Template, references: References): Map<string, ResourceStatement[]> {
  const permissions = template.ofType('AWS::Lambda::Permission').map(({ properties }) => {
    const { Action, FunctionName, Principal, SourceArn, SourceAccount } = PermissionProperties.parse(
      references.resolve(properties),
    );
    const target = FunctionName.startsWith('arn:') ? FunctionName : functionArn(FunctionName);
    const statement: ResourceStatement = {
      effect: 'Allow',
      principals: [Principal],
      actions: [Action],
      resources: [target],
      conditions: {
        ...(SourceArn !== undefined && { ArnLike: { 'aws:SourceArn': [SourceArn] } }),
        ...(SourceAccount !== undefined && { StringEquals: { 'aws:SourceAccount': [SourceAccount] } }),
      },
    };
    return { target, statement };
  });
  return new Map(
    [...Map.groupBy(permissions, ({ target }) => target)].map(([target, all]) => [
      target,
      all.map(({ statement }) => statement),
    ]),
  );
}

/** A trust policy has no `Resource`: it is about the role that it belongs to. */
function withResource(document: unknown): unknown {
  const { Statement } = Object(document);
  return {
    Statement: [Statement].flat().map((statement: unknown) => ({ Resource: '*', ...Object(statement) })),
  };
}
