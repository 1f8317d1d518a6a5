import type { Resource, Template } from '../template/template.ts';

/** The template's name, or one of the stack name and logical id. */
export const physicalName = (
  template: Template,
  resource: Resource,
  given: string | undefined,
  suffix = '',
) => given ?? `${template.stackName}-${resource.logicalId}${suffix}`;
