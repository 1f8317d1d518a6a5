import type { Organization } from '../../domain/tenant.ts';
import { OrganizationEnvironment, readEnvironment } from '../../platform/config.ts';
import { success } from '../../platform/reply.ts';

const { MAILER } = readEnvironment(OrganizationEnvironment);

/** The answer of the settings routes: the organization, and whether its admins can get e-mail at all. */
export const replyWithOrganization = (organization: Organization) =>
  success({ ...organization, mailer: MAILER === 'on' });
