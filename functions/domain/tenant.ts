import * as z from 'zod/mini';
import { OrgId } from './ids.ts';

export const Environment = z.enum(['live', 'sandbox']);
export type Environment = z.infer<typeof Environment>;

/**
 * Whose data a request or a worker acts on: the effective organization and the generation of its data.
 * Every key in the tables is built from a tenant, so that code which holds one cannot name another's items.
 * A reset of a sandbox moves it to the next generation; a live organization stays at 0.
 */
export const Tenant = z.object({ orgId: OrgId, generation: z.int().check(z.nonnegative()) });
export type Tenant = z.infer<typeof Tenant>;

/** Rate-limit tier of an organization (decisions.md, Rate limits). */
export const Tier = z.enum(['sandbox', 'standard', 'scale']);
export type Tier = z.infer<typeof Tier>;

export const Organization = z.object({
  id: OrgId,
  name: z.string(),
  environment: Environment,
  tier: Tier,
  createdAt: z.iso.datetime(),
});
export type Organization = z.infer<typeof Organization>;
