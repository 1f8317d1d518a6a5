import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FunctionName } from '../../lib/cloud/bundle.ts';
import { physicalName } from '../../lib/local/provision/physical-name.ts';
import { loadTemplate, type Resource } from '../../lib/local/template/template.ts';

const TEMPLATE = 'ConversationService.template.json';

/** What a synthesized assembly says of its functions, for tests that look behind the API. */
export interface Functions {
  /** By which the run knows it. @throws Error when there is no such function */
  physicalNameOf(name: FunctionName): string;
}

export function functionsOf(assembly: string): Functions {
  const template = loadTemplate(assembly);
  const names = new Map(
    template
      .ofType('AWS::Lambda::Function')
      .map((resource) => [
        variablesOf(resource).POWERTOOLS_SERVICE_NAME,
        physicalName(template, resource, undefined),
      ]),
  );
  return {
    physicalNameOf(name) {
      const found = names.get(name);
      if (found === undefined) throw new Error(`the stack has no function ${name}`);
      return found;
    },
  };
}

/** Gives every function of an assembly further variables, before it is started. */
export function addVariables(assembly: string, variables: Readonly<Record<string, string>>): void {
  const file = join(assembly, TEMPLATE);
  const template: { Resources: Record<string, { Type: string; Properties: Record<string, unknown> }> } =
    JSON.parse(readFileSync(file, 'utf8'));
  for (const { Type, Properties } of Object.values(template.Resources))
    if (Type === 'AWS::Lambda::Function')
      Properties.Environment = { Variables: { ...variablesOf({ properties: Properties }), ...variables } };
  writeFileSync(file, JSON.stringify(template));
}

/** Variables of a function, values that are made of others left as the template has them. */
function variablesOf({ properties }: Pick<Resource, 'properties'>): Record<string, unknown> {
  return { ...Object(properties.Environment).Variables };
}
