import { readStacks } from 'aws-local/template/template.ts';

export interface Resource {
  Type: string;
  Properties?: Record<string, unknown>;
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
}

export interface Template {
  Resources: Readonly<Record<string, Resource>>;
  Outputs?: Record<string, { Value: unknown; Export?: { Name: unknown } }>;
  Parameters?: object;
}

/** Templates by their stacks' paths: the name, or for a nested stack `Service-prod/Data`. */
export type Release = ReadonlyMap<string, Template>;

/**
 * Reads a cloud assembly.
 * @throws LocalRunError when a file is missing
 */
export function readRelease(directory: string): Release {
  const paths = new Map<string, string>();
  return new Map(
    readStacks(directory).map(({ stackName, content, nested }) => {
      const path = nested ? `${paths.get(nested.parent)}/${nested.logicalId}` : stackName;
      paths.set(stackName, path);
      return [path, { Resources: {}, ...content }];
    }),
  );
}

const REFERENCE = /"(?:Ref|Fn::GetAtt)":\[?"(\w+)|\$\{(\w+)/g;

/** Whether a value refers to one of the ids. */
export const refersTo = (value: unknown, ids: { has(id: string): boolean }): boolean =>
  [...JSON.stringify(value).matchAll(REFERENCE)].some(([, id, inText]) => ids.has(id ?? inText ?? ''));
