import * as z from 'zod/mini';
import { OrgId } from './ids.ts';

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
export const permits = (role: Role, needed: Role): boolean => role === needed || role === 'admin';
