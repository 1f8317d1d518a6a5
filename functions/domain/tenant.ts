import * as z from 'zod/mini';
import { OrgId } from './ids.ts';

export const Environment = z.enum(['live', 'sandbox']);
export type Environment = z.infer<typeof Environment>;

/** Data of live organizations is never wiped. */
export const LIVE_GENERATION = 0;
/** A sandbox's data begins here, so that a generation alone says whether it is a sandbox's. */
export const FIRST_SANDBOX_GENERATION = 1;

/**
 * Whose data a request or a worker acts on: the effective organization and the generation of its data.
 * Every key in the tables is built from a tenant, so that code which holds one cannot name another's items.
 * A reset of a sandbox moves it to the next generation; a live organization stays at 0.
 */
export const Tenant = z.object({ orgId: OrgId, generation: z.int().check(z.nonnegative()) });
export type Tenant = z.infer<typeof Tenant>;

export const isSandbox = ({ generation }: Pick<Tenant, 'generation'>): boolean =>
  generation >= FIRST_SANDBOX_GENERATION;

/** Rate-limit tier of an organization (decisions.md, Rate limits). */
export const Tier = z.enum(['sandbox', 'standard', 'scale']);
export type Tier = z.infer<typeof Tier>;

const RANGE = 'must be between 0 and 100';

/** A percentage with no more digits than a person sets, which every store can hold exactly. */
export const Percentage = z.number().check(
  z.minimum(0, { error: RANGE }),
  z.maximum(100, { error: RANGE }),
  z.refine((percent) => Number(percent.toFixed(2)) === percent, {
    error: 'must have at most two decimals',
  }),
);

/** What an organization's admins set for themselves (decisions.md, Content-change notifications). */
export const OrganizationSettings = z.object({
  /** Share of a source's text, in percent, that must have changed before admins are told. */
  contentChangeThreshold: Percentage,
  contentChangeNotifications: z.boolean(),
});
export type OrganizationSettings = z.infer<typeof OrganizationSettings>;

/** What is to be known of an organization before anything is done in its name. */
const OrganizationStateShape = z.object({
  environment: Environment,
  tier: Tier,
  /** Of its present data. */
  generation: z._default(z.int().check(z.nonnegative()), LIVE_GENERATION),
});

/** A kind and a generation that contradict one another say nothing, so whoever asks is told nothing. */
export const OrganizationState = OrganizationStateShape.check(
  z.refine(({ environment, generation }) => (environment === 'sandbox') === isSandbox({ generation })),
);
export type OrganizationState = z.infer<typeof OrganizationState>;

export const Organization = z.object({
  id: OrgId,
  name: z.string(),
  environment: Environment,
  tier: Tier,
  createdAt: z.iso.datetime(),
  contentChangeThreshold: z._default(Percentage, 20),
  contentChangeNotifications: z._default(z.boolean(), true),
});
export type Organization = z.infer<typeof Organization>;
/** As it comes to be: the settings have their defaults. */
export type NewOrganization = z.input<typeof Organization>;

/** What a person may do in the organization settings: members see, admins change. */
export const Role = z.enum(['member', 'admin']);
export type Role = z.infer<typeof Role>;

/** A person of an organization, as the claims of a verified token name them. */
export const Session = z.object({
  /** The issuer's identifier of the person (`sub`). */
  userId: z.string().check(z.minLength(1), z.maxLength(255)),
  orgId: OrgId,
  role: Role,
  /** As the issuer knows it, to be shown; it proves nothing and identifies nobody. */
  email: z.nullable(z.string().check(z.minLength(1), z.maxLength(320))),
  /** From then on the token stands for nobody. */
  expiresAt: z.date(),
});
export type Session = z.infer<typeof Session>;

/** An admin may do whatever a member may. */
export const hasRole = (role: Role, needed: Role): boolean => role === needed || role === 'admin';
