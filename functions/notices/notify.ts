import { type SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2';
import type { OrgId, ReceiverId } from '../aws/ids.ts';
import type { Log } from '../aws/log-codes.ts';
import { Defect } from '../aws/logger.ts';
import type { MAIL } from '../aws/metrics.ts';
import { type BusEvent, NOTICES } from '../events/bus.ts';
import type { SourceStore } from '../knowledge/sources.ts';
import type { readEndpoint } from '../receivers/endpoints.ts';
import { type Gate, type Permit, requirePermit } from '../tenancy/gate.ts';
import type { Organization } from '../tenancy/tenant.ts';
import {
  composeContentChangeMail,
  composeDisabledMail,
  composeFailingMail,
  type Mail,
  type MailKind,
  type MailText,
  WARNING_WINDOW_SECONDS,
} from './mail.ts';
import {
  type Admission,
  buildContentMailKey,
  getNextDay,
  type MailBudgetStore,
  type MailingState,
  type MailingStore,
  type MailRequest,
} from './mailings.ts';

export interface NotifyContext {
  gate: Gate;
  organizations: { find(id: OrgId): Promise<Organization | undefined> };
  endpoints: { find: ReturnType<typeof readEndpoint> };
  sources: SourceStore;
  mailings: MailingStore;
  budgets: MailBudgetStore;
  directory: { adminsOf(orgId: OrgId): Promise<readonly string[]> };
  mailer: ReturnType<typeof mailer>;
  count: (what: keyof typeof MAIL) => void;
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

/** Admins were not notified and may still be: retry the event. */
export class NotNotified extends Error {
  override name = 'NotNotified';
}

const BUSY = 'another worker is sending an e-mail about this';

type Outcome = 'sent' | 'refused' | Exclude<MailingState, 'free'>;

/**
 * Mails the admins of a live organization, once per event. The e-mail is claimed before it is sent: a certain
 * failure releases the claim and is retried, an e-mail that may have been sent keeps it
 * (docs/decisions/0012-background-work.md).
 */
export function notifyAdmins(context: NotifyContext, settings: NotifySettings) {
  const { mailings, log, now, count } = context;

  /** @throws NotNotified, or the error of the try: the event must be retried */
  return (event: BusEvent): Promise<void> =>
    context.gate(event.orgId, {
      live: (permit) => notify(event, permit),
      sandbox: async () => log('SANDBOX_UNTOLD', getLogFields(event)),
    });

  async function notify(event: BusEvent, permit: Permit): Promise<void> {
    if (!Object.hasOwn(BUILDERS, event.type)) throw new Defect(`admins are not notified of ${event.type}`);
    const notification = BUILDERS[event.type as MailKind](event, context, settings);
    const request: MailRequest = { ...notification, orgId: event.orgId, eventId: event.id };
    const announceLater = async (about: MailRequest): Promise<void> => {
      await notification.announceLater?.((await mailings.windowEnd(about)) ?? now());
      log('ADMINS_TOLD_BEFORE', getLogFields(event));
    };
    // Saves the search for recipients of an e-mail that is dropped or sent already. The claim checks again.
    const state = await mailings.state(request, now());
    if (state === 'within-window') return announceLater(request);
    const text = await notification.text();
    if (text === undefined) return log('NEWS_OUTDATED', getLogFields(event));
    // Another worker's claim can be released again; charge the budget only for an e-mail that was free.
    if (state === 'busy') throw new NotNotified(BUSY);
    const budget = state === 'free' ? await context.budgets.find(request, now()) : 'admitted';
    if (budget === 'closed') return dropOverBudget(event, notification);
    const groups = await listRecipients(event);
    if (groups.length === 0) {
      count('nobody');
      return log('NO_ADMIN', getLogFields(event));
    }
    const mails = groups.map((to, index) => ({
      mail: { ...text, to },
      request: index === 0 ? request : { ...request, about: `${request.about}#${index + 1}` },
    }));
    // All admins get the e-mail, or none: a retry may have moved the window of some.
    if (state === 'free')
      for (const further of mails.slice(1))
        if ((await mailings.state(further.request, now())) === 'within-window')
          return announceLater(further.request);
    if (budget === 'open') {
      const admission = await context.budgets.admit(request, groups.flat().length, now());
      if (admission !== 'send') return dropOverBudget(event, notification, admission);
    }
    const outcomes = new Set<Outcome>();
    for (const { mail, request: claimed } of mails) {
      const outcome = await sendOnce(claimed, mail, permit, event);
      if (outcome === 'within-window' && outcomes.size === 0) return announceLater(request);
      outcomes.add(outcome);
      if (outcome === 'busy') break;
    }
    if (outcomes.has('sent') || outcomes.has('done')) await notification.markNotified?.(now());
    if (outcomes.has('refused')) throw new NotNotified('an e-mail was refused');
    if (outcomes.has('busy')) throw new NotNotified(BUSY);
  }

  async function dropOverBudget(
    event: BusEvent,
    { isPostponed, announceLater }: Notification,
    admission?: Admission,
  ): Promise<void> {
    count('overBudget');
    log('MAIL_OVER_BUDGET', getLogFields(event));
    if (isPostponed) await announceLater?.(getNextDay(now()));
    if (admission !== 'over-ceiling') return;
    count('ceiling');
    log('MAIL_CEILING_REACHED', getLogFields(event));
  }

  async function listRecipients(event: BusEvent): Promise<string[][]> {
    const { groups, unfit } = groupRecipients(await context.directory.adminsOf(event.orgId));
    if (unfit > 0) log('ADDRESSES_UNFIT', { ...getLogFields(event), unfit });
    return groups;
  }

  /**
   * Claims, sends and settles without other work in between: a claimed e-mail that is not settled may have
   * been sent.
   */
  async function sendOnce(
    request: MailRequest,
    mail: Mail,
    permit: Permit,
    { traceId }: BusEvent,
  ): Promise<Outcome> {
    const { eventId, orgId } = request;
    const fields = { eventId, orgId, recipients: mail.to.length, traceId };
    const claim = await mailings.claim(request, now(), settings.leaseSeconds);
    if (claim.kind !== 'claimed') {
      if (claim.kind === 'unknown') {
        count('unknown');
        log('MAIL_ABANDONED', fields);
      }
      return claim.kind;
    }
    const result = await context.mailer.send(mail, permit);
    if (result.kind === 'unknown') {
      count('unknown');
      log('MAIL_OUTCOME_UNKNOWN', { ...fields, reason: result.reason });
      return 'unknown';
    }
    if (result.kind === 'refused') {
      count('failed');
      log('MAIL_REFUSED', { ...fields, reason: result.reason });
      await mailings.release(request, claim.token);
      return 'refused';
    }
    count('sent');
    log('ADMINS_TOLD', fields);
    try {
      await mailings.settle(request, claim.token, now());
    } catch (error) {
      // The claim says that it may have been sent, which also prevents a second one.
      log('MAIL_NOT_RECORDED', { ...fields, error });
    }
    return 'sent';
  }
}

const getLogFields = ({ id, type, orgId, traceId }: BusEvent) => ({ eventId: id, type, orgId, traceId });

/** Maximum recipients of one e-mail in SES. */
export const MAX_RECIPIENTS = 50;

const ADDRESS = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@[\w-]+(?:\.[\w-]+)*$/i;

/**
 * Groups recipients into e-mails: each address once, compared case-insensitively, in the given order. Invalid
 * addresses (RFC 5322; SES does not support RFC 6531) are dropped, because one would block the e-mail to all
 * others.
 * @returns the groups, and the number of dropped addresses
 */
export function groupRecipients(addresses: readonly string[]): { groups: string[][]; unfit: number } {
  const fit = addresses.filter((address) => ADDRESS.test(address));
  const all = [...new Map(fit.map((address) => [address.toLowerCase(), address])).values()];
  const groups = Array.from({ length: Math.ceil(all.length / MAX_RECIPIENTS) }, (_, index) =>
    all.slice(index * MAX_RECIPIENTS, (index + 1) * MAX_RECIPIENTS),
  );
  return { groups, unfit: addresses.length - fit.length };
}

/** A notification to send, and what follows when it was sent. */
interface Notification extends Pick<MailRequest, 'kind' | 'about' | 'windowSeconds'> {
  /** Undefined when the notification is obsolete. */
  text(): Promise<MailText | undefined>;
  markNotified?(at: Date): Promise<unknown>;
  /** Called when another e-mail about the same was sent too recently. */
  announceLater?(at: Date): Promise<unknown>;
  /** It was announced later already, and waits for the budget of another day. */
  isPostponed?: boolean;
}

const BUILDERS: Record<MailKind, typeof buildContentNotification> = {
  'source.changed': buildContentNotification,
  'webhook.failing': buildFailingNotification,
  'webhook.disabled': buildDisabledNotification,
};

/** The name of an endpoint's organization, and the endpoint if it exists. */
async function findReceiver(orgId: OrgId, id: ReceiverId, { organizations, endpoints }: NotifyContext) {
  const [organization, endpoint] = await Promise.all([organizations.find(orgId), endpoints.find(orgId, id)]);
  return { organization: organization?.name ?? orgId, endpoint };
}

function buildDisabledNotification(
  { id, orgId, data }: BusEvent,
  context: NotifyContext,
  { dashboardOrigin }: NotifySettings,
): Notification {
  const disabled = NOTICES['webhook.disabled'].parse(data);
  return {
    kind: 'webhook.disabled',
    // A receiver that was enabled again can be disabled again.
    about: `mail#${id}`,
    windowSeconds: Infinity,
    async text() {
      const { organization, endpoint } = await findReceiver(orgId, disabled.webhookId, context);
      return composeDisabledMail({ ...disabled, organization, url: endpoint?.url, dashboardOrigin });
    },
  };
}

/** Obsolete once deliveries succeed again, or the endpoint is disabled, which has an e-mail of its own. */
function buildFailingNotification(
  { orgId, data }: BusEvent,
  context: NotifyContext,
  { dashboardOrigin }: NotifySettings,
): Notification {
  const failing = NOTICES['webhook.failing'].parse(data);
  return {
    kind: 'webhook.failing',
    about: `mail#failing#${failing.webhookId}`,
    windowSeconds: WARNING_WINDOW_SECONDS,
    async text() {
      const { organization, endpoint } = await findReceiver(orgId, failing.webhookId, context);
      if (endpoint?.status !== 'active' || endpoint.consecutiveFailures === 0) return undefined;
      const { url, consecutiveFailures } = endpoint;
      return composeFailingMail({ ...failing, organization, url, dashboardOrigin, consecutiveFailures });
    },
  };
}

function buildContentNotification(
  { orgId, generation, data }: BusEvent,
  { organizations, sources }: NotifyContext,
  { dashboardOrigin, noticeSeconds }: NotifySettings,
): Notification {
  const { sourceId, version, ...changed } = NOTICES['source.changed'].parse(data);
  const tenant = { orgId, generation };
  return {
    kind: 'source.changed',
    about: buildContentMailKey(changed.url),
    windowSeconds: noticeSeconds,
    isPostponed: changed.isPostponed === true,
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

/** `refused`: certainly not sent. `unknown`: it may have been sent. */
export type MailResult = { kind: 'sent' } | { kind: 'refused' | 'unknown'; reason: string };

/**
 * Sends e-mail through SES, with a permit of the gate.
 * @param from address verified in SES, or of a verified domain
 */
export function mailer(client: SESv2Client, from: string) {
  return {
    /** Sends once, and never rejects for failures of SES or the network. */
    async send({ to, subject, text, html }: Mail, permit: Permit): Promise<MailResult> {
      requirePermit(permit);
      try {
        await client.send(
          new SendEmailCommand({
            FromEmailAddress: from,
            Destination: { ToAddresses: [...to] },
            Content: {
              Simple: {
                Subject: toUtf8Content(subject),
                Body: { Text: toUtf8Content(text), Html: toUtf8Content(html) },
                // Suppresses automatic replies (RFC 3834, section 5).
                Headers: [{ Name: 'Auto-Submitted', Value: 'auto-generated' }],
              },
            },
          }),
        );
        return { kind: 'sent' };
      } catch (error) {
        return { kind: isRefusal(error) ? 'refused' : 'unknown', reason: getReason(error) };
      }
    },
  };
}

const toUtf8Content = (Data: string) => ({ Data, Charset: 'UTF-8' });

/** Error codes from before a connection exists: nothing was sent. */
const UNSENT_CODES = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN']);

/** Whether SES certainly did not take the e-mail. */
function isRefusal(error: unknown): boolean {
  const { name, code, message, $metadata } = Object(error) as Record<string, unknown>;
  if (Number(Object($metadata).httpStatusCode) >= 400) return true;
  if (name === 'CredentialsProviderError' || UNSENT_CODES.has(String(code))) return true;
  // The handler gives its two time-outs one name; that of a request has a code.
  return (
    name === 'TimeoutError' &&
    code === undefined &&
    String(message).includes('did not establish a connection')
  );
}

/** SES's messages contain addresses, which are not logged. */
function getReason(error: unknown): string {
  const { name, code, $metadata } = Object(error) as Record<string, unknown>;
  return [name, code, Object($metadata).httpStatusCode].filter((part) => part !== undefined).join(' ');
}
