import type { Resource, Template } from '../template/template.ts';

/** The name that the template gives a resource, else one made of the stack's and the resource's own. */
export const physicalName = (
  template: Template,
  resource: Resource,
  given: string | undefined,
  suffix = '',
) => given ?? `${template.stackName}-${resource.logicalId}${suffix}`;
