import { type BusEvent, NOTICES } from '../domain/bus.ts';
import { Defect } from '../domain/defect.ts';
import type { Endpoint } from '../domain/endpoint.ts';
import type { Gate, Permit } from '../domain/gate.ts';
import type { OrgId, ReceiverId, SourceId } from '../domain/ids.ts';
import {
  contentChanged,
  endpointDisabled,
  type Mail,
  type MailResult,
  type MailText,
} from '../domain/mail.ts';
import {
  aboutChunk,
  aboutContent,
  aboutDisabling,
  type MailingStanding,
  recipientChunks,
  type Sending,
} from '../domain/mailing.ts';
import type { Source } from '../domain/source.ts';
import type { Organization, Tenant } from '../domain/tenant.ts';
import type { TraceId } from '../domain/trace.ts';
import type { Log } from './log.ts';

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
  };
  directory: { adminsOf(orgId: OrgId): Promise<readonly string[]> };
  mailer: { send(mail: Mail, permit: Permit): Promise<MailResult> };
  count: (what: 'sent' | 'failed' | 'unknown' | 'nobody') => void;
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
  /** Undefined when there is nobody left who wants to know. */
  text(): Promise<MailText | undefined>;
  told(at: Date): Promise<unknown>;
}

/** An event that has to come again, because admins were not told of it and may still be. */
export class NotTold extends Error {
  override name = 'NotTold';
}

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
    // Spares what is dropped or done the search for people. The claim asks again.
    const standing = await mailings.standing(news.sending, now());
    if (standing === 'within-window') return log('ADMINS_TOLD_BEFORE', fieldsOf(event));
    const people = recipientChunks(await ports.directory.adminsOf(event.orgId));
    if (people.unfit > 0) log('ADDRESSES_UNFIT', { ...fieldsOf(event), unfit: people.unfit });
    if (people.chunks.length === 0) {
      count('nobody');
      return log('NO_ADMIN', fieldsOf(event));
    }
    const text = await news.text();
    if (text === undefined) return log('NEWS_OUTDATED', fieldsOf(event));
    const outcomes = new Set<Outcome>();
    for (const [chunk, to] of people.chunks.entries()) {
      const sending = { ...news.sending, about: aboutChunk(news.sending.about, chunk) };
      outcomes.add(await sendOnce(sending, { ...text, to }, permit, event.traceId));
    }
    if (TOLD.some((outcome) => outcomes.has(outcome))) await news.told(now());
    if (outcomes.has('refused')) throw new NotTold('an e-mail was refused');
    if (outcomes.has('busy')) throw new NotTold('somebody else is sending an e-mail about this');
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
  { id, orgId, generation, data }: BusEvent,
  { organizations, sources }: NotifyPorts,
  { dashboardOrigin, noticeSeconds }: NotifyTerms,
): News {
  const { sourceId, version, ...changed } = NOTICES['source.changed'].parse(data);
  const tenant = { orgId, generation };
  return {
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
