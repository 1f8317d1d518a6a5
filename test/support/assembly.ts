import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadTemplate, type Resource } from 'aws-local/template/template.ts';
import type { FunctionName } from '../../lib/infra/grants/grant.ts';

/** Functions of a synthesized assembly, for tests of more than the API. */
export interface Functions {
  /**
   * The function's name in the run.
   * @throws Error when there is no such function
   */
  physicalNameOf(name: FunctionName): string;
}

export function functionsOf(assembly: string): Functions {
  const template = loadTemplate(assembly);
  const names = new Map(
    template
      .ofType('AWS::Lambda::Function')
      .map((resource) => [variablesOf(resource).FUNCTION_NAME, String(resource.properties.FunctionName)]),
  );
  return {
    physicalNameOf(name) {
      const id = names.get(name);
      if (id === undefined) throw new Error(`the stack has no function ${name}`);
      return id;
    },
  };
}

/** Adds variables to every function of an assembly, before it is started. */
export function addVariables(assembly: string, variables: Readonly<Record<string, string>>): void {
  change(assembly, (_, { Type, Properties }) => {
    if (Type === 'AWS::Lambda::Function')
      Properties.Environment = { Variables: { ...variablesOf({ properties: Properties }), ...variables } };
  });
}

/** Removes `RecursiveLoop` from functions of an assembly, before it is started. */
export function stopLoopsOf(assembly: string, names: readonly FunctionName[]): void {
  change(assembly, (_, { Type, Properties }) => {
    const isNamed = names.some((name) => variablesOf({ properties: Properties }).FUNCTION_NAME === name);
    if (Type === 'AWS::Lambda::Function' && isNamed) delete Properties.RecursiveLoop;
  });
}

/**
 * Disables an event source mapping of an assembly.
 * @param beginning of its logical id
 */
export function disableMapping(assembly: string, beginning: string): void {
  let isFound = false;
  change(assembly, (id, { Type, Properties }) => {
    if (Type !== 'AWS::Lambda::EventSourceMapping' || !id.startsWith(beginning)) return;
    isFound = true;
    Properties.Enabled = false;
  });
  if (!isFound) throw new Error(`the stack has no mapping ${beginning}`);
}

/** Removes resources of a type, to which nothing may refer, from an assembly. */
export function removeType(assembly: string, type: string): void {
  change(assembly, (id, { Type }, resources) => {
    if (Type === type) delete resources[id];
  });
}

/** Limits the concurrent invocations of a function of an assembly. */
export function reserveConcurrency(assembly: string, name: FunctionName, executions: number): void {
  change(assembly, (_, { Type, Properties }) => {
    if (Type === 'AWS::Lambda::Function' && serviceName(Properties) === name)
      Properties.ReservedConcurrentExecutions = executions;
  });
}

/** Removes actions from the role of a function of an assembly. */
export function withdrawActions(assembly: string, name: FunctionName, actions: readonly string[]): void {
  const roles = new Set<string>();
  change(assembly, (_, { Type, Properties }) => {
    if (Type === 'AWS::Lambda::Function' && serviceName(Properties) === name)
      roles.add(String(Object(Properties.Role)['Fn::GetAtt']?.[0]));
  });
  let isFound = false;
  change(assembly, (id, { Type, Properties }) => {
    if (Type !== 'AWS::IAM::Role' || !roles.has(id)) return;
    for (const { PolicyDocument } of Properties.Policies as { PolicyDocument: { Statement: Statement[] } }[])
      PolicyDocument.Statement = PolicyDocument.Statement.flatMap((statement) => {
        const all = [statement.Action].flat();
        const Action = all.filter((action) => !actions.includes(action));
        isFound ||= Action.length < all.length;
        return Action.length === 0 ? [] : [{ ...statement, Action }];
      });
  });
  if (!isFound) throw new Error(`the role of ${name} has none of ${actions.join(', ')}`);
}

interface Statement {
  Action: string | string[];
}

const serviceName = (properties: Record<string, unknown>): unknown =>
  variablesOf({ properties }).FUNCTION_NAME;

interface TemplateResource {
  Type: string;
  Properties: Record<string, unknown>;
}

function change(
  assembly: string,
  edit: (logicalId: string, resource: TemplateResource, all: Record<string, TemplateResource>) => void,
): void {
  for (const name of globSync('*.template.json', { cwd: assembly })) {
    const file = join(assembly, name);
    const template: { Resources: Record<string, TemplateResource> } = JSON.parse(readFileSync(file, 'utf8'));
    for (const [logicalId, resource] of Object.entries(template.Resources))
      edit(logicalId, resource, template.Resources);
    writeFileSync(file, JSON.stringify(template));
  }
}

/** Variables of a function; computed values stay as in the template. */
function variablesOf({ properties }: Pick<Resource, 'properties'>): Record<string, unknown> {
  return { ...Object(properties.Environment).Variables };
}
