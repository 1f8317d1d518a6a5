import * as z from 'zod/mini';
import { mailClient, openTables } from '../aws/clients.ts';
import { DecimalNumber, NonEmptyText, readEnvironment, WholeNumber } from '../aws/config.ts';
import { logger } from '../aws/logger.ts';
import { count, MAIL } from '../aws/metrics.ts';
import { MAIL_LEASE_SECONDS } from '../delivery/timing.ts';
import { busWorker, processEach } from '../events/worker.ts';
import { sourceStore } from '../knowledge/sources.ts';
import { MAIL_BUDGETS } from '../notices/mail.ts';
import { mailBudgets, mailingStore } from '../notices/mailings.ts';
import { mailer, notifyAdmins } from '../notices/notify.ts';
import { readEndpoint } from '../receivers/endpoints.ts';
import { userDirectory, userPoolClient } from '../tenancy/directory.ts';
import { gate } from '../tenancy/gate.ts';
import { organizationStates, organizationStore, readOrganizationState } from '../tenancy/organizations.ts';

export const NotifyEnvironment = z.object({
  SERVICE_TABLE: NonEmptyText,
  KNOWLEDGE_TABLE: NonEmptyText,
  MAILINGS_TABLE: NonEmptyText,
  USER_POOL: NonEmptyText,
  MAIL_FROM: NonEmptyText,
  /** Origin of the dashboard, for links in e-mails. */
  DASHBOARD_ORIGIN: z.url(),
  /** Seconds in which admins get at most one notice about a source's URL. */
  NOTICE_SECONDS: DecimalNumber,
  /** Recipients per UTC day: of an organization's e-mails about content, and of all e-mails. */
  MAIL_BUDGET: WholeNumber,
  MAIL_CEILING: WholeNumber,
});

const environment = readEnvironment(NotifyEnvironment);
const { service, knowledge, mailings } = openTables(environment);

const notify = notifyAdmins(
  {
    gate: gate(organizationStates(readOrganizationState(service)).of),
    organizations: organizationStore(service),
    endpoints: { find: readEndpoint(service) },
    sources: sourceStore(knowledge),
    mailings: mailingStore(mailings),
    budgets: mailBudgets(mailings, {
      ...MAIL_BUDGETS,
      'source.changed': { organization: environment.MAIL_BUDGET, stage: environment.MAIL_CEILING },
    }),
    directory: userDirectory(userPoolClient(), environment.USER_POOL),
    mailer: mailer(mailClient(), environment.MAIL_FROM),
    count: (what) => count(MAIL[what]),
    log: logger.log,
    now: () => new Date(),
  },
  {
    dashboardOrigin: environment.DASHBOARD_ORIGIN,
    noticeSeconds: environment.NOTICE_SECONDS,
    leaseSeconds: MAIL_LEASE_SECONDS,
  },
);

/** Notifies admins by e-mail. An e-mail that was certainly not sent is retried. */
export const handler = busWorker('notify', processEach(notify, logger.log));
