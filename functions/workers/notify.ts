import * as z from 'zod/mini';
import { gate } from '../domain/gate.ts';
import { buildMailBudgets } from '../domain/mail.ts';
import { MAIL_LEASE_SECONDS } from '../domain/timing.ts';
import { notifyAdmins } from '../engine/notify.ts';
import { mailClient } from '../platform/clients/clients.ts';
import { DecimalNumber, NonEmptyText, readEnvironment, WholeNumber } from '../platform/config.ts';
import { userDirectory, userPoolClient } from '../platform/directory.ts';
import { logger } from '../platform/logger.ts';
import { mailer } from '../platform/mailer.ts';
import { MAIL } from '../platform/metric-names.ts';
import { count } from '../platform/metrics.ts';
import { organizationStates } from '../platform/organization-states.ts';
import { busWorker, processEach } from '../platform/pipeline/worker.ts';
import { openTables } from '../platform/tables.ts';
import { readEndpoint } from '../store/endpoints.ts';
import { mailBudgets, mailingStore } from '../store/mailings.ts';
import { organizationStore, readOrganizationState } from '../store/organizations.ts';
import { sourceStore } from '../store/sources.ts';

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
export type NotifyEnvironment = z.input<typeof NotifyEnvironment>;

const environment = readEnvironment(NotifyEnvironment);
const { service, knowledge, mailings } = openTables(environment);

const notify = notifyAdmins(
  {
    gate: gate(organizationStates(readOrganizationState(service)).of),
    organizations: organizationStore(service),
    endpoints: { find: readEndpoint(service) },
    sources: sourceStore(knowledge),
    mailings: mailingStore(mailings),
    budgets: mailBudgets(
      mailings,
      buildMailBudgets({ organization: environment.MAIL_BUDGET, stage: environment.MAIL_CEILING }),
    ),
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
