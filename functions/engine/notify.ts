import type { BusEvent } from '../domain/bus.ts';
import type { Permit } from '../domain/gate.ts';
import type { TraceId } from '../domain/ids.ts';
import type { Mail } from '../domain/mail.ts';
import {
  buildChunkMailKey,
  type MailingState,
  type MailRequest,
  splitRecipients,
} from '../domain/mailing.ts';
import {
  buildNotification,
  type ChangeNotification,
  getLogFields,
  type NotifyPorts,
  type NotifySettings,
} from './notifications.ts';

/** Admins were not notified and may still be: retry the event. */
export class NotNotified extends Error {
  override name = 'NotNotified';
}

const BUSY = 'another worker is sending an e-mail about this';

/** Outcomes in which the recipients have the e-mail. */
const DELIVERED: readonly Outcome[] = ['sent', 'done'];
type Outcome = 'sent' | 'refused' | Exclude<MailingState, 'free'>;

/**
 * Mails the admins of a live organization, once per event. The e-mail is claimed before it is sent: a certain
 * failure releases the claim and is retried, an e-mail that may have been sent keeps it
 * (docs/decisions/0012-background-work.md).
 */
export function notifyAdmins(ports: NotifyPorts, settings: NotifySettings) {
  const { mailings, log, now, count } = ports;

  /** @throws NotNotified, or the error of the try: the event must be retried */
  return (event: BusEvent): Promise<void> =>
    ports.gate(event.orgId, {
      live: (permit) => notify(event, permit),
      sandbox: async () => log('SANDBOX_UNTOLD', getLogFields(event)),
    });

  /** @throws NotNotified when the event must be retried for the rest */
  async function notify(event: BusEvent, permit: Permit): Promise<void> {
    const notification = buildNotification(event, ports, settings);
    const { mailRequest } = notification;
    // Saves the search for recipients of an e-mail that is dropped or sent already. The claim checks again.
    const state = await mailings.state(mailRequest, now());
    if (state === 'within-window') return leaveForLater(notification, event);
    const text = await notification.text();
    if (text === undefined) {
      log('NEWS_OUTDATED', getLogFields(event));
      return;
    }
    // Another worker's claim can be released again; charge the budget only for an e-mail that was free.
    if (state === 'busy') throw new NotNotified(BUSY);
    const budget = state === 'free' ? await ports.budgets.find(mailRequest, now()) : 'admitted';
    if (budget === 'closed') return dropOverBudget(event);
    const chunks = await listRecipients(event);
    if (chunks.length === 0) {
      count('nobody');
      log('NO_ADMIN', getLogFields(event));
      return;
    }
    const requests = chunks.map((to, chunk) => ({
      to,
      ...mailRequest,
      about: buildChunkMailKey(mailRequest.about, chunk),
    }));
    // All admins get the e-mail, or none: a retry may have moved the window of some.
    if (state === 'free')
      for (const request of requests.slice(1))
        if ((await mailings.state(request, now())) === 'within-window')
          return leaveForLater({ ...notification, mailRequest: request }, event);
    if (budget === 'open') {
      const admission = await ports.budgets.admit(mailRequest, chunks.flat().length, now());
      if (admission !== 'send') return dropOverBudget(event, admission);
    }
    const outcomes = new Set<Outcome>();
    for (const { to, ...request } of requests) {
      const outcome = await sendOnce(request, { ...text, to }, permit, event.traceId);
      if (outcome === 'within-window' && outcomes.size === 0) return leaveForLater(notification, event);
      outcomes.add(outcome);
      if (outcome === 'busy') break;
    }
    if (DELIVERED.some((outcome) => outcomes.has(outcome))) await notification.markNotified(now());
    if (outcomes.has('refused')) throw new NotNotified('an e-mail was refused');
    if (outcomes.has('busy')) throw new NotNotified(BUSY);
  }

  async function leaveForLater(notification: ChangeNotification, event: BusEvent): Promise<void> {
    const end = await mailings.windowEnd(notification.mailRequest);
    await notification.announceLater?.(end ?? now());
    log('ADMINS_TOLD_BEFORE', getLogFields(event));
  }

  function dropOverBudget(event: BusEvent, admission?: 'over-budget' | 'over-ceiling'): void {
    count('overBudget');
    log('MAIL_OVER_BUDGET', getLogFields(event));
    if (admission !== 'over-ceiling') return;
    count('ceiling');
    log('MAIL_CEILING_REACHED', getLogFields(event));
  }

  /** @returns the recipients of each e-mail */
  async function listRecipients(event: BusEvent): Promise<string[][]> {
    const { chunks, unfit } = splitRecipients(await ports.directory.adminsOf(event.orgId));
    if (unfit > 0) log('ADDRESSES_UNFIT', { ...getLogFields(event), unfit });
    return chunks;
  }

  /**
   * Claims, sends and settles without other work in between: a claimed e-mail that is not settled may have
   * been sent.
   */
  async function sendOnce(
    mailRequest: MailRequest,
    mail: Mail,
    permit: Permit,
    traceId: TraceId,
  ): Promise<Outcome> {
    const fields = {
      eventId: mailRequest.eventId,
      orgId: mailRequest.orgId,
      recipients: mail.to.length,
      traceId,
    };
    const claim = await mailings.claim(mailRequest, now(), settings.leaseSeconds);
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
      await mailings.release(mailRequest, claim.token);
      return 'refused';
    }
    count('sent');
    log('ADMINS_TOLD', fields);
    try {
      await mailings.settle(mailRequest, claim.token, now());
    } catch (error) {
      // The claim says that it may have been sent, which also prevents a second one.
      log('MAIL_NOT_RECORDED', { ...fields, error });
    }
    return 'sent';
  }
}
