import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import access from './access.json' with { type: 'json' };
import { type Access, FROM_EVENT, type GrantedResource } from './resource.ts';

/** Functions by file name; `npm run generate -- grants` adds a new one. */
export type FunctionName = keyof typeof access;

const ACCESS: Readonly<Record<string, Access>> = access;

/** @throws Error when access.json lacks the function */
export function accessOf(name: FunctionName): Access {
  const access = ACCESS[name];
  if (access === undefined)
    throw new Error(`what ${name} may do is not derived yet: npm run generate -- grants`);
  return access;
}

/**
 * Grants a function exactly its code's actions on the resources in its environment.
 * @param fromEvent resource that the function's events name
 * @throws Error when the code uses a resource that the environment does not name
 */
export function grantAccess(
  grantee: IGrantable,
  name: FunctionName,
  environment: Record<string, string | GrantedResource>,
  fromEvent?: GrantedResource,
): void {
  for (const [used, actions] of Object.entries(accessOf(name))) {
    const [variable = '', ...part] = used.split('/');
    const resource = variable === FROM_EVENT ? fromEvent : environment[variable];
    if (resource === undefined || typeof resource === 'string')
      throw new Error(`the code of ${name} uses ${variable}, for which its environment names no resource`);
    const resourceArns = resource.arnsOf(part.length === 0 ? undefined : part.join('/'));
    Grant.addToPrincipal({ grantee, actions: [...actions], resourceArns });
  }
}
