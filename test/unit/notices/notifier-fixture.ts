import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import { newId, type OrgId, type ReceiverId } from '../../../functions/aws/ids.ts';
import { MAIL_LEASE_SECONDS } from '../../../functions/delivery/timing.ts';
import type { BusEvent } from '../../../functions/events/bus.ts';
import { sourceStore } from '../../../functions/knowledge/sources.ts';
import { MAIL_BUDGETS, type Mail } from '../../../functions/notices/mail.ts';
import { mailBudgets, mailingStore } from '../../../functions/notices/mailings.ts';
import type { MailResult } from '../../../functions/notices/notify.ts';
import { type NotifyContext, notifyAdmins } from '../../../functions/notices/notify.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { gate, requirePermit } from '../../../functions/tenancy/gate.ts';
import { anEndpoint, anOrganization, aSource, aTenant, NOW } from '../../builders.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';

export const DAY = 86_400;
export const LEASE = MAIL_LEASE_SECONDS;
const URL_OF_SOURCE = 'https://www.example.com/hours';

/** A change of a source's content. Each version has one. */
export function aChange({
  tenant = aTenant(),
  sourceId = newId('src', NOW),
  version = 2,
  url = URL_OF_SOURCE,
  difference = 40,
} = {}): BusEvent {
  return {
    id: `${sourceId}#changed#${version}`,
    type: 'source.changed',
    ...tenant,
    createdAt: NOW.toISOString(),
    data: { sourceId, url, kind: 'url', version, difference, added: 'came', removed: 'went' },
  };
}

/** The event of a disabled endpoint. */
export function aDisabling({
  tenant = aTenant(),
  webhookId = newId('whk', NOW),
}: {
  tenant?: ReturnType<typeof aTenant>;
  webhookId?: ReceiverId;
} = {}): BusEvent {
  return {
    id: `${webhookId}#disabled#${NOW.toISOString()}`,
    type: 'webhook.disabled',
    ...tenant,
    createdAt: NOW.toISOString(),
    data: { webhookId, disabledAt: NOW.toISOString(), lastError: 'timeout' },
  };
}

/** The event of five failures in a row; each streak of an endpoint has its own. */
export function aWarning(webhookId: ReceiverId, { streak = 1, tenant = aTenant() } = {}): BusEvent {
  return {
    id: `${webhookId}#failing#${streak}`,
    type: 'webhook.failing',
    ...tenant,
    createdAt: NOW.toISOString(),
    data: { webhookId, lastError: 'the receiver answered 500' },
  };
}

export const admins = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `admin${index}@example.com`);

/** The notifier over the real stores of e-mails; its other ports are in memory. */
export function aNotifier({
  table = memoryTables().mailings,
  content = MAIL_BUDGETS['source.changed'] as { organization: number; stage: number },
} = {}) {
  const clock = new VirtualClock();
  const log = recordedLog();
  const states = memoryOrganizationStates();
  const counts = { sent: 0, failed: 0, unknown: 0, nobody: 0, overBudget: 0, ceiling: 0 };
  const people = { admins: ['ada@example.com'] };
  const organization = { name: 'Example Ltd', contentChangeNotifications: true };
  const source: { isGone: boolean; name?: string; title?: string } = { isGone: false, name: 'Hours' };
  const endpoints = new Map<ReceiverId, Endpoint>();
  /** The e-mails that SES accepted, with or without an answer. */
  const sent: (Mail & { at: Date })[] = [];
  const notified: { version: number; at: Date }[] = [];
  /** When notices are to come once more. */
  const announced: Date[] = [];
  /** The next results of SES; it accepts an e-mail when there is none. */
  const results: (MailResult | 'taken-without-answer')[] = [];
  const asked: OrgId[] = [];

  const ports: NotifyContext = {
    gate: gate(states.of),
    organizations: { find: async (id) => anOrganization({ id, ...organization }) },
    endpoints: { find: async (_, id) => endpoints.get(id) },
    sources: {
      ...sourceStore(memoryTables().knowledge),
      find: async (tenant, id) => {
        if (source.isGone) return undefined;
        const { name, title } = source;
        const content = { version: 2, digest: '', words: 1, ...(title === undefined ? {} : { title }) };
        return { ...aSource({ ...tenant, id }), name, content };
      },
      notified: async (_tenant, _id, version, at) => void notified.push({ version, at }),
      announceLater: async (_tenant, _id, at) => void announced.push(at),
    },
    mailings: mailingStore(table),
    budgets: mailBudgets(table, { ...MAIL_BUDGETS, 'source.changed': content }),
    directory: {
      adminsOf: async (orgId) => {
        asked.push(orgId);
        return people.admins;
      },
    },
    mailer: {
      async send(mail, permit) {
        requirePermit(permit);
        const result = results.shift() ?? { kind: 'sent' };
        if (result === 'taken-without-answer') {
          sent.push({ ...mail, at: clock.now() });
          return { kind: 'unknown', reason: 'TimeoutError' };
        }
        if (result.kind === 'sent') sent.push({ ...mail, at: clock.now() });
        return result;
      },
    },
    count: (what) => {
      counts[what] += 1;
    },
    log,
    now: clock.now,
  };
  const runWith = (replaced: Partial<NotifyContext> = {}) =>
    notifyAdmins(
      { ...ports, ...replaced },
      { dashboardOrigin: 'https://dashboard.example.com', noticeSeconds: DAY, leaseSeconds: LEASE },
    );
  return {
    clock,
    log,
    states,
    counts,
    people,
    organization,
    source,
    sent,
    notified,
    announced,
    results,
    asked,
    ports,
    runWith,
    run: runWith(),
    register(endpoint: Partial<Endpoint> & Pick<Endpoint, 'id'>) {
      endpoints.set(endpoint.id, anEndpoint(endpoint));
    },
    /** Runs an event as its queue does, until it is done. @returns how often it ran */
    async untilDone(event: BusEvent, run = runWith()): Promise<number> {
      for (let receive = 1; receive <= 20; receive += 1) {
        if (
          await run(event).then(
            () => true,
            () => false,
          )
        )
          return receive;
        clock.elapse(180);
      }
      throw new Error('the event is dead');
    },
  };
}

export const REFUSED: MailResult = { kind: 'refused', reason: 'MessageRejected 400' };
export const UNKNOWN: MailResult = { kind: 'unknown', reason: 'TimeoutError ETIMEDOUT' };
