import type * as z from 'zod';
import { LocalRunError } from '../errors.ts';
import type { References } from '../template/references.ts';
import type { Resource } from '../template/template.ts';

/**
 * Some of a resource's properties, resolved and parsed.
 *
 * @throws LocalRunError naming the resource and the property that has another form
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
