import { Duration, Stack, Token } from 'aws-cdk-lib';
import type * as cognito from 'aws-cdk-lib/aws-cognito';
import { Construct } from 'constructs';
import { MAIL } from '../../functions/aws/metrics.ts';
import { MAIL_TIMEOUT_SECONDS } from '../../functions/delivery/timing.ts';
import type { MailKind } from '../../functions/notices/mail.ts';
import type { NotifyEnvironment } from '../../functions/workers/notify.ts';
import { acknowledge } from './acknowledgements.ts';
import { alarmAt, counted } from './alarms.ts';
import type { BusQueues } from './bus.ts';
import { BusWorker } from './bus-worker.ts';
import type { EnvironmentOf } from './grants/resource.ts';
import type { CodeOf } from './service-function.ts';
import type { Settings } from './settings.ts';
import type { Tables } from './tables.ts';

/** Rejected e-mail is retried every few minutes: three are no accident. */
const REFUSALS = 3;

/** E-mail to the admins of organizations. */
export class Mail extends Construct {
  constructor(
    scope: Construct,
    id: string,
    {
      code,
      tables: { service, knowledge, mailings },
      bus,
      users,
      from,
      dashboardOrigin,
      noticeSeconds,
      mailLimits,
    }: {
      code: CodeOf;
      tables: Tables;
      bus: BusQueues;
      users: cognito.UserPool;
      /** Verified by SES, itself or by its domain. */
      from: string;
      dashboardOrigin: string;
    } & Pick<Settings, 'noticeSeconds' | 'mailLimits'>,
  ) {
    super(scope, id);
    const notify = new BusWorker(this, 'Notify', {
      name: 'notify',
      description: 'Writes to the admins of organizations',
      code,
      timeoutSeconds: MAIL_TIMEOUT_SECONDS,
      bus,
      takes: { detailType: ['source.changed'] satisfies MailKind[] },
      environment: () =>
        ({
          SERVICE_TABLE: service,
          KNOWLEDGE_TABLE: knowledge,
          MAILINGS_TABLE: mailings,
          USER_POOL: { environmentValue: users.userPoolId, arnsOf: () => [users.userPoolArn] },
          MAIL_FROM: { environmentValue: from, arnsOf: () => listSenders(this, from) },
          DASHBOARD_ORIGIN: dashboardOrigin,
          NOTICE_SECONDS: String(noticeSeconds),
          MAIL_BUDGET: String(mailLimits.organization),
          MAIL_CEILING: String(mailLimits.stage),
        }) satisfies EnvironmentOf<typeof NotifyEnvironment>,
      batchSize: 5,
      maxConcurrency: 5,
      says: 'E-mails to admins about changed content failed after all retries.',
      late: 'E-mails to admins are late: their function fails.',
    });
    const sets = listSenders(this, from).at(-1) ?? '';
    const shownSets = Token.isUnresolved(sets)
      ? 'arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>:configuration-set/*'
      : sets;
    acknowledge(notify, {
      [`IAM5[Resource::${shownSets}]`]:
        'Which configuration set is the default of the sender is set in SES, and SES checks it.',
    });
    notify.takeApart('NotifyDisabled', {
      bus,
      takes: { detailType: ['webhook.disabled', 'webhook.failing'] satisfies MailKind[] },
      timeoutSeconds: MAIL_TIMEOUT_SECONDS,
      batchSize: 5,
      maxConcurrency: 2,
      says: 'E-mails to admins about a failing or disabled endpoint failed after all retries.',
    });

    alarmAt(this, 'Fails', {
      metric: counted(this, MAIL.failed).with({ period: Duration.minutes(15) }),
      threshold: REFUSALS,
      runbook: 'background.md#ses-refuses-e-mails',
      says: 'SES refuses e-mails to admins. They are tried again for about an hour.',
    });
    alarmAt(this, 'OutcomeUnknown', {
      metric: counted(this, MAIL.unknown),
      runbook: 'background.md#an-e-mail-may-not-have-been-sent',
      says: 'An e-mail to admins may not have been sent. It is not tried again, because it may also have been.',
    });
    alarmAt(this, 'CeilingReached', {
      metric: counted(this, MAIL.ceiling),
      runbook: 'background.md#the-e-mails-of-the-day-are-used-up',
      says: 'All organizations together have used up the e-mails of content for the day. What is left of the quota of SES is for failing and disabled endpoints.',
    });
    alarmAt(this, 'WithoutRecipient', {
      metric: counted(this, MAIL.nobody),
      runbook: 'background.md#an-organization-has-no-admin',
      says: 'An organization has no admin whom e-mail could be sent to; the log of notify names it.',
    });
  }
}

/**
 * What SES checks of a sender: the verified identity (its address, its domain or a parent domain), and the
 * configuration set that the identity may have as its default (SES Developer Guide, Controlling access).
 */
function listSenders(scope: Construct, from: string): string[] {
  const identities = [from, ...domainsAbove(from.slice(from.indexOf('@') + 1))];
  return [
    ...identities.map((name) => ({ resource: 'identity', resourceName: name })),
    { resource: 'configuration-set', resourceName: '*' },
  ].map((part) => Stack.of(scope).formatArn({ service: 'ses', ...part }));
}

/** `mail.example.com` and `example.com`; a domain of one label cannot be registered. */
function domainsAbove(domain: string): string[] {
  const labels = domain.split('.');
  return labels.slice(0, Math.max(1, labels.length - 1)).map((_, index) => labels.slice(index).join('.'));
}
