import { readStacks } from 'aws-local/template/template.ts';
import * as z from 'zod';

const Resource = z.looseObject({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  DeletionPolicy: z.string().optional(),
  UpdateReplacePolicy: z.string().optional(),
});
export type Resource = z.output<typeof Resource>;

const Template = z.looseObject({
  Resources: z.record(z.string(), Resource),
  Outputs: z
    .record(
      z.string(),
      z.looseObject({ Value: z.unknown(), Export: z.object({ Name: z.unknown() }).optional() }),
    )
    .default({}),
  Parameters: z.record(z.string(), z.unknown()).default({}),
});

export interface ReleaseStack {
  /** Name of the stack, or of its parent and its logical id there: `Service-prod/Data`. */
  path: string;
  template: z.output<typeof Template>;
  /** Bytes of the template as the CDK writes it. */
  size: number;
}

/** The stacks of a release by their paths, those before that contain others. */
export type Release = ReadonlyMap<string, ReleaseStack>;

/** @param templates by the stacks' paths */
export const releaseOf = (templates: Readonly<Record<string, unknown>>): Release =>
  new Map(
    Object.entries(templates).map(([path, content]) => [
      path,
      { path, template: Template.parse(content), size: Buffer.byteLength(JSON.stringify(content, null, 1)) },
    ]),
  );

/**
 * Reads a cloud assembly.
 * @throws LocalRunError when a file is missing
 */
export function readRelease(directory: string): Release {
  const paths = new Map<string, string>();
  const templates = readStacks(directory).map(({ stackName, content, nested }) => {
    const path = nested ? `${paths.get(nested.parent)}/${nested.logicalId}` : stackName;
    paths.set(stackName, path);
    return [path, content] as const;
  });
  return releaseOf(Object.fromEntries(templates));
}

/** All objects in a value, itself first. */
export function* objectsIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const part of Object.values(value)) yield* objectsIn(part);
}

/** Whether a value refers to one of the ids. */
export const refersTo = (value: unknown, ids: ReadonlyMap<string, unknown>): boolean =>
  [...objectsIn(value)].some(({ Ref, 'Fn::GetAtt': attribute, 'Fn::Sub': text }) => {
    const variables = String([text].flat()[0] ?? '').matchAll(/\$\{(\w+)/g);
    const names = [Ref, String([attribute].flat()[0]).split('.')[0], ...[...variables].map(([, id]) => id)];
    return names.some((name) => typeof name === 'string' && ids.has(name));
  });
