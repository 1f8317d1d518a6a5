import type { Organization } from '../../domain/tenant.ts';
import { OrganizationEnvironment, readEnvironment } from '../../platform/config.ts';
import { success } from '../../platform/reply.ts';

const { MAILER } = readEnvironment(OrganizationEnvironment);

/** Replies with the organization, and whether the deployment sends e-mail. */
export const replyWithOrganization = (organization: Organization) =>
  success({ ...organization, mailer: MAILER === 'on' });
