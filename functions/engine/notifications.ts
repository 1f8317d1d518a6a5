import { type BusEvent, NOTICES } from '../domain/bus.ts';
import type { Endpoint } from '../domain/endpoint.ts';
import type { Gate, Permit } from '../domain/gate.ts';
import type { OrgId, ReceiverId, SourceId } from '../domain/ids.ts';
import {
  composeContentChangeMail,
  composeDisabledMail,
  composeFailingMail,
  type Mail,
  type MailResult,
  type MailText,
} from '../domain/mail.ts';
import {
  buildContentMailKey,
  buildDisablingMailKey,
  buildWarningMailKey,
  type MailingState,
  type MailKind,
  type MailRequest,
  WARNING_WINDOW_SECONDS,
} from '../domain/mailing.ts';
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
    /** Lets a check announce the current text once the time has come. */
    announceLater(tenant: Tenant, id: SourceId, at: Date): Promise<unknown>;
  };
  mailings: {
    state(mailRequest: MailRequest, now: Date): Promise<MailingState>;
    /** When an e-mail about another event is allowed; undefined after none. */
    windowEnd(mailRequest: MailRequest): Promise<Date | undefined>;
    claim(
      mailRequest: MailRequest,
      now: Date,
      leaseSeconds: number,
    ): Promise<{ kind: 'claimed'; token: string } | { kind: Exclude<MailingState, 'free'> }>;
    settle(mailRequest: MailRequest, token: string, now: Date): Promise<boolean>;
    release(mailRequest: MailRequest, token: string): Promise<boolean>;
  };
  budgets: {
    /** `closed`: no e-mail of the kind is sent today any more. */
    find(request: AdmissionRequest, now: Date): Promise<'admitted' | 'open' | 'closed'>;
    /** Decides once per event and day, and charges the recipients to the budget of the kind. */
    admit(
      request: AdmissionRequest,
      recipients: number,
      now: Date,
    ): Promise<'send' | 'over-budget' | 'over-ceiling'>;
  };
  directory: { adminsOf(orgId: OrgId): Promise<readonly string[]> };
  mailer: { send(mail: Mail, permit: Permit): Promise<MailResult> };
  count: (what: 'sent' | 'failed' | 'unknown' | 'nobody' | 'overBudget' | 'ceiling') => void;
  log: Log;
  now: () => Date;
}

type AdmissionRequest = Pick<MailRequest, 'orgId' | 'kind' | 'eventId'>;

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
  /** Undefined when the notification is obsolete. */
  text(): Promise<MailText | undefined>;
  markNotified(at: Date): Promise<unknown>;
  /** Called when another e-mail about the same was sent too recently. */
  announceLater?(at: Date): Promise<unknown>;
}

export const getLogFields = ({ id, type, orgId, traceId }: BusEvent) => ({
  eventId: id,
  type,
  orgId,
  traceId,
});

type Builder = (event: BusEvent, ports: NotifyPorts, settings: NotifySettings) => ChangeNotification;

const BUILDERS: Record<MailKind, Builder> = {
  'source.changed': buildContentNotification,
  'webhook.failing': buildFailingNotification,
  'webhook.disabled': buildDisabledNotification,
};

/** @throws when admins are not notified of such events (a defect of the sender) */
export function buildNotification(
  event: BusEvent,
  ports: NotifyPorts,
  settings: NotifySettings,
): ChangeNotification {
  if (!isMailKind(event.type)) throw new Defect(`admins are not notified of ${event.type}`);
  return BUILDERS[event.type](event, ports, settings);
}

const isMailKind = (type: string): type is MailKind => Object.hasOwn(BUILDERS, type);

function buildDisabledNotification(
  { id, orgId, data }: BusEvent,
  { organizations, endpoints }: NotifyPorts,
  { dashboardOrigin }: NotifySettings,
): ChangeNotification {
  const { webhookId, disabledAt, lastError } = NOTICES['webhook.disabled'].parse(data);
  return {
    mailRequest: {
      kind: 'webhook.disabled',
      orgId,
      about: buildDisablingMailKey(id),
      eventId: id,
      windowSeconds: Infinity,
    },
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
      kind: 'webhook.failing',
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
  { id, orgId, generation, data }: BusEvent,
  { organizations, sources }: NotifyPorts,
  { dashboardOrigin, noticeSeconds }: NotifySettings,
): ChangeNotification {
  const { sourceId, version, ...changed } = NOTICES['source.changed'].parse(data);
  const tenant = { orgId, generation };
  return {
    mailRequest: {
      kind: 'source.changed',
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
        sourceId,
        name: source.name ?? source.content?.title,
        organization: organization?.name ?? orgId,
        noticeSeconds,
        dashboardOrigin,
      });
    },
    markNotified: (at) => sources.notified(tenant, sourceId, version, at),
    announceLater: (at) => sources.announceLater(tenant, sourceId, at),
  };
}
