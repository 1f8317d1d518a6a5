import { type BusEvent, NOTICES } from '../domain/bus.ts';
import type { Endpoint } from '../domain/endpoint.ts';
import type { Gate, Permit } from '../domain/gate.ts';
import { type OrgId, type ReceiverId, SourceId, type TraceId } from '../domain/ids.ts';
import {
  contentChanged,
  contentDigest,
  endpointDisabled,
  type Mail,
  type MailResult,
  type MailText,
} from '../domain/mail.ts';
import {
  aboutChunk,
  aboutContent,
  aboutDigest,
  aboutDisabling,
  type Digest,
  type DigestChange,
  type MailingStanding,
  recipientChunks,
  type Sending,
} from '../domain/mailing.ts';
import { memoize } from '../domain/memoize.ts';
import { Defect } from '../domain/problem.ts';
import type { Source } from '../domain/source.ts';
import type { Organization, Tenant } from '../domain/tenant.ts';
import type { Log } from '../platform/log-codes.ts';

export interface NotifyPorts {
  gate: Gate;
  organizations: { find(id: OrgId): Promise<Organization | undefined> };
  endpoints: { find(orgId: OrgId, id: ReceiverId): Promise<Pick<Endpoint, 'url'> | undefined> };
  sources: {
    find(tenant: Tenant, id: SourceId): Promise<Pick<Source, 'name' | 'content'> | undefined>;
    /** Records which version admins know. May be repeated. */
    notified(tenant: Tenant, id: SourceId, version: number, at: Date): Promise<unknown>;
  };
  mailings: {
    standing(sending: Sending, now: Date): Promise<MailingStanding>;
    claim(
      sending: Sending,
      now: Date,
      leaseSeconds: number,
    ): Promise<{ kind: 'claimed'; token: string } | { kind: Exclude<MailingStanding, 'free'> }>;
    settle(sending: Sending, token: string, now: Date): Promise<boolean>;
    release(sending: Sending, token: string): Promise<boolean>;
    /** Records that another e-mail told of the same. */
    sentOtherwise(sending: Pick<Sending, 'orgId' | 'about'>, now: Date): Promise<void>;
  };
  budgets: {
    /** Decides once for each event. @param recipients is called only for a notice that may be sent */
    admit(
      request: Tenant & { eventId: string; change: DigestChange },
      recipients: () => Promise<number>,
      now: Date,
    ): Promise<{ decision: 'notice' | 'digest'; refusedBy?: 'mail-budget' | 'mail-ceiling' }>;
    /** @returns whether a digest may be sent today */
    admitDigest(request: Tenant & { eventId: string }, recipients: number, now: Date): Promise<boolean>;
    /** Ends a digest, so that nothing is added while it is sent. */
    close(tenant: Tenant, day: string, now: Date): Promise<Digest | undefined>;
    /** The digest was sent, or is of no interest any more. */
    finish(tenant: Tenant, day: string): Promise<void>;
  };
  directory: { adminsOf(orgId: OrgId): Promise<readonly string[]> };
  mailer: { send(mail: Mail, permit: Permit): Promise<MailResult> };
  count: (what: 'sent' | 'failed' | 'unknown' | 'nobody' | 'digested' | 'ceiling') => void;
  log: Log;
  now: () => Date;
}

export interface NotifyTerms {
  dashboardOrigin: string;
  /** For which admins are told once at most of the content at a URL. */
  noticeSeconds: number;
  /** Longer than a worker can live. */
  leaseSeconds: number;
}

/** What is to be told, and what follows when it was. */
interface News {
  sending: Sending;
  /** Takes the e-mail's recipients from what may be sent in a day. Without it nothing limits the e-mail. */
  admit?(recipients: () => Promise<number>): Promise<'send' | 'later'>;
  /** Undefined when there is nobody left who wants to know. */
  text(): Promise<MailText | undefined>;
  told(at: Date): Promise<unknown>;
  /** Follows when nothing is left to be sent, whether it was told or not. */
  finish?(): Promise<unknown>;
}

/** An event that has to come again, because admins were not told of it and may still be. */
export class NotTold extends Error {
  override name = 'NotTold';
}

const BUSY = 'another worker is sending an e-mail about this';

/** Which of the outcomes mean that the event's e-mail is with its recipients. */
const TOLD: readonly Outcome[] = ['sent', 'done'];
type Outcome = 'sent' | 'refused' | Exclude<MailingStanding, 'free'>;

/**
 * Writes to the admins of a live organization about what happened, once. The e-mail is claimed before it is sent, so that no repetition, race
 * or crash sends it twice (decision 12): what certainly failed gives its claim back and comes again; what may have been sent keeps it.
 */
export function notify(ports: NotifyPorts, terms: NotifyTerms) {
  const { mailings, log, now, count } = ports;

  /** @throws NotTold, or what kept it from being tried: the event has to come again */
  return (event: BusEvent): Promise<void> =>
    ports.gate(event.orgId, {
      live: (permit) => tell(event, permit),
      sandbox: async () => log('SANDBOX_UNTOLD', fieldsOf(event)),
    });

  async function tell(event: BusEvent, permit: Permit): Promise<void> {
    const news = newsOf(event, ports, terms);
    if (await isOver(news, event, permit)) await news.finish?.();
  }

  /**
   * @returns false when the e-mail is left to a later one
   * @throws NotTold when the event has to come again for what is left
   */
  async function isOver(news: News, event: BusEvent, permit: Permit): Promise<boolean> {
    const people = memoize(recipientsOf);
    // Spares what is dropped or done the search for people. The claim asks again.
    const standing = await mailings.standing(news.sending, now());
    if (standing === 'within-window') {
      log('ADMINS_TOLD_BEFORE', fieldsOf(event));
      return true;
    }
    const text = await news.text();
    if (text === undefined) {
      log('NEWS_OUTDATED', fieldsOf(event));
      return true;
    }
    // A claim that was taken meanwhile can be released again: only what was free has been admitted before it
    // is claimed.
    if (news.admit !== undefined && standing === 'busy') throw new NotTold(BUSY);
    const isFree = news.admit !== undefined && standing === 'free';
    const countPeople = async () => (await people(event)).flat().length;
    if (isFree && (await news.admit?.(countPeople)) === 'later') return false;
    const chunks = await people(event);
    if (chunks.length === 0) {
      count('nobody');
      log('NO_ADMIN', fieldsOf(event));
      return true;
    }
    const outcomes = new Set<Outcome>();
    for (const [chunk, to] of chunks.entries()) {
      const sending = { ...news.sending, about: aboutChunk(news.sending.about, chunk) };
      outcomes.add(await sendOnce(sending, { ...text, to }, permit, event.traceId));
    }
    if (TOLD.some((outcome) => outcomes.has(outcome))) await news.told(now());
    if (outcomes.has('refused')) throw new NotTold('an e-mail was refused');
    if (outcomes.has('busy')) throw new NotTold(BUSY);
    return true;
  }

  /** @returns the addresses of each e-mail */
  async function recipientsOf(event: BusEvent): Promise<string[][]> {
    const { chunks, unfit } = recipientChunks(await ports.directory.adminsOf(event.orgId));
    if (unfit > 0) log('ADDRESSES_UNFIT', { ...fieldsOf(event), unfit });
    return chunks;
  }

  /** Claims, sends, and settles, with nothing in between: what is claimed and not settled may have been sent. */
  async function sendOnce(sending: Sending, mail: Mail, permit: Permit, traceId: TraceId): Promise<Outcome> {
    const fields = { eventId: sending.eventId, orgId: sending.orgId, recipients: mail.to.length, traceId };
    const claim = await mailings.claim(sending, now(), terms.leaseSeconds);
    if (claim.kind !== 'claimed') {
      if (claim.kind === 'unknown') {
        count('unknown');
        log('MAIL_ABANDONED', fields);
      }
      return claim.kind;
    }
    const result = await ports.mailer.send(mail, permit);
    if (result.kind === 'unknown') {
      count('unknown');
      log('MAIL_OUTCOME_UNKNOWN', { ...fields, reason: result.reason });
      return 'unknown';
    }
    if (result.kind === 'refused') {
      count('failed');
      log('MAIL_REFUSED', { ...fields, reason: result.reason });
      await mailings.release(sending, claim.token);
      return 'refused';
    }
    count('sent');
    log('ADMINS_TOLD', fields);
    try {
      await mailings.settle(sending, claim.token, now());
    } catch (error) {
      // Its claim says that it may have been sent, which keeps others from it just as well.
      log('MAIL_NOT_RECORDED', { ...fields, error });
    }
    return 'sent';
  }
}

const fieldsOf = ({ id, type, orgId, traceId }: BusEvent) => ({ eventId: id, type, orgId, traceId });

/** @throws when the event is none that admins are told of, which is a defect of whoever sent it */
function newsOf(event: BusEvent, ports: NotifyPorts, terms: NotifyTerms): News {
  switch (event.type) {
    case 'webhook.disabled':
      return disabling(event, ports, terms);
    case 'source.changed':
      return change(event, ports, terms);
    case 'source.digest':
      return digest(event, ports, terms);
    default:
      throw new Defect(`admins are not told of ${event.type}`);
  }
}

function disabling(
  { id, orgId, data }: BusEvent,
  { organizations, endpoints }: NotifyPorts,
  { dashboardOrigin }: NotifyTerms,
): News {
  const { webhookId, disabledAt } = NOTICES['webhook.disabled'].parse(data);
  return {
    sending: { orgId, about: aboutDisabling(id), eventId: id, windowSeconds: Infinity },
    async text() {
      const [organization, endpoint] = await Promise.all([
        organizations.find(orgId),
        endpoints.find(orgId, webhookId),
      ]);
      return endpointDisabled({
        webhookId,
        disabledAt,
        url: endpoint?.url,
        organization: organization?.name ?? orgId,
        dashboardOrigin,
      });
    },
    told: () => Promise.resolve(),
  };
}

function change(
  event: BusEvent,
  { organizations, sources, budgets, count, log, now }: NotifyPorts,
  { dashboardOrigin, noticeSeconds }: NotifyTerms,
): News {
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
      log('NOTICE_IN_DIGEST', fieldsOf(event));
      return 'later';
    },
    sending: { orgId, about: aboutContent(changed.url), eventId: id, windowSeconds: noticeSeconds },
    async text() {
      const [organization, source] = await Promise.all([
        organizations.find(orgId),
        sources.find(tenant, sourceId),
      ]);
      // Both can have come about while the event waited.
      if (source === undefined || organization?.contentChangeNotifications === false) return undefined;
      return contentChanged({
        ...changed,
        name: source.name ?? source.content?.title,
        organization: organization?.name ?? orgId,
        noticeSeconds,
        dashboardOrigin,
      });
    },
    told: (at) => sources.notified(tenant, sourceId, version, at),
  };
}

/** The changes of a day that no notice was sent for. */
function digest(
  event: BusEvent,
  { organizations, sources, mailings, budgets, count, log, now }: NotifyPorts,
  { dashboardOrigin }: NotifyTerms,
): News {
  const { id, orgId, generation, data } = event;
  const { day } = NOTICES['source.digest'].parse(data);
  const tenant = { orgId, generation };
  const contents = memoize((of: string) => budgets.close(tenant, of, now()));
  return {
    sending: { orgId, about: aboutDigest(day), eventId: id, windowSeconds: Infinity },
    async admit(recipients) {
      if (await budgets.admitDigest({ ...tenant, eventId: id }, await recipients(), now())) return 'send';
      reportCeiling(event, count, log);
      return 'later';
    },
    async text() {
      const [organization, found] = await Promise.all([organizations.find(orgId), contents(day)]);
      if (found === undefined || organization?.contentChangeNotifications === false) return undefined;
      return contentDigest({ ...found, organization: organization?.name ?? orgId, dashboardOrigin });
    },
    async told(at) {
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
  log('MAIL_CEILING_REACHED', fieldsOf(event));
}
