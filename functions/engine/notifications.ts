import { type BusEvent, NOTICES } from '../domain/bus.ts';
import type { Endpoint } from '../domain/endpoint.ts';
import type { Gate, Permit } from '../domain/gate.ts';
import { type OrgId, type ReceiverId, SourceId } from '../domain/ids.ts';
import {
  composeContentChangeMail,
  composeDigestMail,
  composeDisabledMail,
  composeFailingMail,
  type Mail,
  type MailResult,
  type MailText,
} from '../domain/mail.ts';
import {
  buildContentMailKey,
  buildDigestMailKey,
  buildDisablingMailKey,
  buildWarningMailKey,
  type Digest,
  type DigestChange,
  type MailingState,
  type MailRequest,
  WARNING_WINDOW_SECONDS,
} from '../domain/mailing.ts';
import { memoize } from '../domain/memoize.ts';
import { Defect } from '../domain/problem.ts';
import type { Source } from '../domain/source.ts';
import type { Organization, Tenant } from '../domain/tenant.ts';
import type { Log } from '../platform/log-codes.ts';

type NotifiedEndpoint = Pick<Endpoint, 'url' | 'status' | 'consecutiveFailures'>;

export interface NotifyPorts {
  gate: Gate;
  organizations: { find(id: OrgId): Promise<Organization | undefined> };
  endpoints: { find(orgId: OrgId, id: ReceiverId): Promise<NotifiedEndpoint | undefined> };
  sources: {
    find(tenant: Tenant, id: SourceId): Promise<Pick<Source, 'name' | 'content'> | undefined>;
    /** Records the version that admins know. Repeatable. */
    notified(tenant: Tenant, id: SourceId, version: number, at: Date): Promise<unknown>;
  };
  mailings: {
    state(mailRequest: MailRequest, now: Date): Promise<MailingState>;
    claim(
      mailRequest: MailRequest,
      now: Date,
      leaseSeconds: number,
    ): Promise<{ kind: 'claimed'; token: string } | { kind: Exclude<MailingState, 'free'> }>;
    settle(mailRequest: MailRequest, token: string, now: Date): Promise<boolean>;
    release(mailRequest: MailRequest, token: string): Promise<boolean>;
    /** Records that another e-mail reported the same change. */
    sentOtherwise(mailRequest: Pick<MailRequest, 'orgId' | 'about'>, now: Date): Promise<void>;
  };
  budgets: {
    /**
     * Decides once per event.
     * @param recipients called only for a notice that may be sent
     */
    admit(
      request: Tenant & { eventId: string; change: DigestChange },
      recipients: () => Promise<number>,
      now: Date,
    ): Promise<{ decision: 'notice' | 'digest'; refusedBy?: 'mail-budget' | 'mail-ceiling' }>;
    /** @returns whether a digest may be sent today */
    admitDigest(request: Tenant & { eventId: string }, recipients: number, now: Date): Promise<boolean>;
    /** Closes a digest: nothing is added while it is sent. */
    close(tenant: Tenant, day: string, now: Date): Promise<Digest | undefined>;
    /** The digest was sent, or is obsolete. */
    finish(tenant: Tenant, day: string): Promise<void>;
  };
  directory: { adminsOf(orgId: OrgId): Promise<readonly string[]> };
  mailer: { send(mail: Mail, permit: Permit): Promise<MailResult> };
  count: (what: 'sent' | 'failed' | 'unknown' | 'nobody' | 'digested' | 'ceiling') => void;
  log: Log;
  now: () => Date;
}

export interface NotifySettings {
  dashboardOrigin: string;
  /** Seconds in which admins get at most one notice about the content at a URL. */
  noticeSeconds: number;
  /** Longer than the function's timeout. */
  leaseSeconds: number;
}

/** A notification to send, and what follows when it was sent. */
export interface ChangeNotification {
  mailRequest: MailRequest;
  /** Charges the recipients to the day's budget. Without it nothing limits the e-mail. */
  admit?(recipients: () => Promise<number>): Promise<'send' | 'later'>;
  /** Undefined when the notification is obsolete. */
  text(): Promise<MailText | undefined>;
  markNotified(at: Date): Promise<unknown>;
  /** Called when nothing is left to send, sent or not. */
  finish?(): Promise<unknown>;
}

export const getLogFields = ({ id, type, orgId, traceId }: BusEvent) => ({
  eventId: id,
  type,
  orgId,
  traceId,
});

/** @throws when admins are not notified of such events (a defect of the sender) */
export function buildNotification(
  event: BusEvent,
  ports: NotifyPorts,
  settings: NotifySettings,
): ChangeNotification {
  switch (event.type) {
    case 'webhook.disabled':
      return buildDisabledNotification(event, ports, settings);
    case 'webhook.failing':
      return buildFailingNotification(event, ports, settings);
    case 'source.changed':
      return buildContentNotification(event, ports, settings);
    case 'source.digest':
      return buildDigestNotification(event, ports, settings);
    default:
      throw new Defect(`admins are not notified of ${event.type}`);
  }
}

function buildDisabledNotification(
  { id, orgId, data }: BusEvent,
  { organizations, endpoints }: NotifyPorts,
  { dashboardOrigin }: NotifySettings,
): ChangeNotification {
  const { webhookId, disabledAt, lastError } = NOTICES['webhook.disabled'].parse(data);
  return {
    mailRequest: { orgId, about: buildDisablingMailKey(id), eventId: id, windowSeconds: Infinity },
    async text() {
      const [organization, endpoint] = await Promise.all([
        organizations.find(orgId),
        endpoints.find(orgId, webhookId),
      ]);
      return composeDisabledMail({
        webhookId,
        disabledAt,
        lastError,
        url: endpoint?.url,
        organization: organization?.name ?? orgId,
        dashboardOrigin,
      });
    },
    markNotified: () => Promise.resolve(),
  };
}

/** Obsolete once deliveries succeed again, or the endpoint is disabled, which has an e-mail of its own. */
function buildFailingNotification(
  { id, orgId, data }: BusEvent,
  { organizations, endpoints }: NotifyPorts,
  { dashboardOrigin }: NotifySettings,
): ChangeNotification {
  const { webhookId, lastError } = NOTICES['webhook.failing'].parse(data);
  return {
    mailRequest: {
      orgId,
      about: buildWarningMailKey(webhookId),
      eventId: id,
      windowSeconds: WARNING_WINDOW_SECONDS,
    },
    async text() {
      const [organization, endpoint] = await Promise.all([
        organizations.find(orgId),
        endpoints.find(orgId, webhookId),
      ]);
      if (endpoint?.status !== 'active' || endpoint.consecutiveFailures === 0) return undefined;
      return composeFailingMail({
        webhookId,
        lastError,
        url: endpoint.url,
        consecutiveFailures: endpoint.consecutiveFailures,
        organization: organization?.name ?? orgId,
        dashboardOrigin,
      });
    },
    markNotified: () => Promise.resolve(),
  };
}

function buildContentNotification(
  event: BusEvent,
  { organizations, sources, budgets, count, log, now }: NotifyPorts,
  { dashboardOrigin, noticeSeconds }: NotifySettings,
): ChangeNotification {
  const { id, orgId, generation, data } = event;
  const { sourceId, version, ...changed } = NOTICES['source.changed'].parse(data);
  const tenant = { orgId, generation };
  return {
    async admit(recipients) {
      const { url, kind, difference } = changed;
      const request = { ...tenant, eventId: id, change: { sourceId, version, url, kind, difference } };
      const { decision, refusedBy } = await budgets.admit(request, recipients, now());
      if (decision === 'notice') return 'send';
      count('digested');
      if (refusedBy === 'mail-ceiling') reportCeiling(event, count, log);
      log('NOTICE_IN_DIGEST', getLogFields(event));
      return 'later';
    },
    mailRequest: {
      orgId,
      about: buildContentMailKey(changed.url),
      eventId: id,
      windowSeconds: noticeSeconds,
    },
    async text() {
      const [organization, source] = await Promise.all([
        organizations.find(orgId),
        sources.find(tenant, sourceId),
      ]);
      // Both can have changed while the event waited.
      if (source === undefined || organization?.contentChangeNotifications === false) return undefined;
      return composeContentChangeMail({
        ...changed,
        name: source.name ?? source.content?.title,
        organization: organization?.name ?? orgId,
        noticeSeconds,
        dashboardOrigin,
      });
    },
    markNotified: (at) => sources.notified(tenant, sourceId, version, at),
  };
}

/** The changes of a day without notices of their own. */
function buildDigestNotification(
  event: BusEvent,
  { organizations, sources, mailings, budgets, count, log, now }: NotifyPorts,
  { dashboardOrigin }: NotifySettings,
): ChangeNotification {
  const { id, orgId, generation, data } = event;
  const { day } = NOTICES['source.digest'].parse(data);
  const tenant = { orgId, generation };
  const contents = memoize((of: string) => budgets.close(tenant, of, now()));
  return {
    mailRequest: { orgId, about: buildDigestMailKey(day), eventId: id, windowSeconds: Infinity },
    async admit(recipients) {
      if (await budgets.admitDigest({ ...tenant, eventId: id }, await recipients(), now())) return 'send';
      reportCeiling(event, count, log);
      return 'later';
    },
    async text() {
      const [organization, found] = await Promise.all([organizations.find(orgId), contents(day)]);
      if (found === undefined || organization?.contentChangeNotifications === false) return undefined;
      return composeDigestMail({ ...found, organization: organization?.name ?? orgId, dashboardOrigin });
    },
    async markNotified(at) {
      const { sources: lines = {} } = (await contents(day)) ?? {};
      for (const [sourceId, { about, version }] of Object.entries(lines)) {
        await sources.notified(tenant, SourceId.parse(sourceId), version, at);
        await mailings.sentOtherwise({ orgId, about }, at);
      }
    },
    finish: () => budgets.finish(tenant, day),
  };
}

function reportCeiling(event: BusEvent, count: NotifyPorts['count'], log: Log): void {
  count('ceiling');
  log('MAIL_CEILING_REACHED', getLogFields(event));
}
