import type * as z from 'zod';
import { LocalRunError } from '../errors.ts';
import type { References } from '../template/references.ts';
import type { Resource } from '../template/template.ts';

/**
 * Resolves and parses properties of a resource.
 * @throws LocalRunError naming the resource and the invalid property
 */
export function parseProperties<T>(
  schema: z.ZodType<T>,
  resource: Resource,
  references: References,
  properties: Record<string, unknown> = resource.properties,
): T {
  const parsed = schema.safeParse(references.resolve(properties));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new LocalRunError(
    `${resource.logicalId} (${resource.type}): ${issue?.path.join('.')}: ${issue?.message}`,
  );
}
