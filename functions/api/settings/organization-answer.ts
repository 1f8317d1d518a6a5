import { OrganizationEnvironment, readEnvironment } from '../../aws/config.ts';
import { success } from '../../http/reply.ts';
import type { Organization } from '../../tenancy/tenant.ts';

const { MAILER } = readEnvironment(OrganizationEnvironment);

/** Replies with the organization, and whether the deployment sends e-mail. */
export const replyWithOrganization = (organization: Organization) =>
  success({ ...organization, mailer: MAILER === 'on' });
