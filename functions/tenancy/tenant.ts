import * as z from 'zod/mini';
import { OrgId, Timestamp } from '../aws/ids.ts';

export const Environment = z.enum(['live', 'sandbox']);
export type Environment = z.infer<typeof Environment>;

/** Live organizations have one generation of data. */
export const LIVE_GENERATION = 0;
/** Generations of sandboxes start here, so a generation alone tells whether data is a sandbox's. */
export const FIRST_SANDBOX_GENERATION = 1;

/**
 * The effective organization and the generation of its data. Keys are built from a tenant, so a read cannot
 * cross tenants. A reset moves a sandbox to the next generation; a live organization stays at 0.
 */
export const Tenant = z.object({ orgId: OrgId, generation: z.int().check(z.nonnegative()) });
export type Tenant = z.infer<typeof Tenant>;

export const isSandbox = ({ generation }: Pick<Tenant, 'generation'>): boolean =>
  generation >= FIRST_SANDBOX_GENERATION;

/** Rate-limit tier (docs/specification.md, Rate limits). */
export const Tier = z.enum(['sandbox', 'standard', 'scale']);
export type Tier = z.infer<typeof Tier>;

const RANGE = 'must be between 0 and 100';

/** At most two decimals, which every store holds exactly. */
export const Percentage = z.number().check(
  z.minimum(0, { error: RANGE }),
  z.maximum(100, { error: RANGE }),
  z.refine((percent) => Number(percent.toFixed(2)) === percent, {
    error: 'must have at most two decimals',
  }),
);

/** Days after its last message for which a conversation is kept; null without an end. */
export const RetentionDays = z.nullable(z.int().check(z.minimum(30), z.maximum(3650)));

/** Settings that admins change (docs/specification.md, Content-change notifications). */
export const OrganizationSettings = z.object({
  /** Percentage of a source's text that must change before admins are notified. */
  contentChangeThreshold: Percentage,
  contentChangeNotifications: z.boolean(),
  retentionDays: RetentionDays,
});
export type OrganizationSettings = z.infer<typeof OrganizationSettings>;

/** Read before anything is done for an organization. */
export const OrganizationState = z
  .object({
    environment: Environment,
    tier: Tier,
    /** Generation of the current data. */
    generation: z._default(z.int().check(z.nonnegative()), LIVE_GENERATION),
  })
  // A kind and a generation that contradict each other are refused.
  .check(
    z.refine(({ environment, generation }) => (environment === 'sandbox') === isSandbox({ generation })),
  );
export type OrganizationState = z.infer<typeof OrganizationState>;

export const Organization = z.object({
  id: OrgId,
  name: z.string(),
  environment: Environment,
  tier: Tier,
  createdAt: Timestamp,
  contentChangeThreshold: z._default(Percentage, 20),
  contentChangeNotifications: z._default(z.boolean(), true),
  retentionDays: z._default(RetentionDays, null),
});
export type Organization = z.infer<typeof Organization>;
/** Input with defaults for the settings. */
export type NewOrganization = z.input<typeof Organization>;

/** Rights in the organization settings: members read, admins write. */
export const Role = z.enum(['member', 'admin']);
export type Role = z.infer<typeof Role>;

/** A signed-in user, from the claims of a verified token. */
export const Session = z.object({
  /** The issuer's id of the user (`sub`). */
  userId: z.string().check(z.minLength(1), z.maxLength(255)),
  orgId: OrgId,
  role: Role,
  /** For display only; it identifies no user. */
  email: z.nullable(z.string().check(z.minLength(1), z.maxLength(320))),
  /** Expiry of the token. */
  expiresAt: z.date(),
});
export type Session = z.infer<typeof Session>;

/** An admin has all rights of a member. */
export const hasRole = (role: Role, needed: Role): boolean => role === needed || role === 'admin';
