import { getMailingState, type Mailing, type MailRequest } from '../../functions/domain/mailing.ts';
import type { NotifyPorts } from '../../functions/engine/notifications.ts';

/** The e-mails that were sent, in memory. */
export class MemoryMailings {
  readonly #mailings = new Map<string, Mailing>();
  #claims = 0;

  readonly state: NotifyPorts['mailings']['state'] = async (sending, now) =>
    getMailingState(this.of(sending), sending, now);

  readonly claim: NotifyPorts['mailings']['claim'] = async (sending, now, leaseSeconds) => {
    const known = this.of(sending);
    const kind = getMailingState(known, sending, now);
    if (kind !== 'free') return { kind };
    this.#claims += 1;
    const token = `claim-${this.#claims}`;
    this.#mailings.set(rowKey(sending), {
      ...known,
      claimedFor: sending.eventId,
      claimToken: token,
      leaseUntil: new Date(now.getTime() + leaseSeconds * 1000).toISOString(),
    });
    return { kind: 'claimed', token };
  };

  readonly settle: NotifyPorts['mailings']['settle'] = async (sending, token, now) => {
    const { claimToken, claimedFor: sentFor } = this.of(sending);
    if (claimToken !== token) return false;
    this.#mailings.set(rowKey(sending), {
      sentAt: now.toISOString(),
      ...(sentFor === undefined ? {} : { sentFor }),
    });
    return true;
  };

  readonly release: NotifyPorts['mailings']['release'] = async (sending, token) => {
    const { claimToken, claimedFor: _, leaseUntil: __, ...before } = this.of(sending);
    if (claimToken !== token) return false;
    this.#mailings.set(rowKey(sending), before);
    return true;
  };

  readonly sentOtherwise: NotifyPorts['mailings']['sentOtherwise'] = async (sending, now) => {
    const known = this.of(sending);
    const sentAt = now.toISOString();
    if (known.sentAt === undefined || known.sentAt < sentAt)
      this.#mailings.set(rowKey(sending), { ...known, sentAt });
  };

  /** The state of the e-mails about one subject. */
  of(sending: Pick<MailRequest, 'orgId' | 'about'>): Mailing {
    return this.#mailings.get(rowKey(sending)) ?? {};
  }
}

const rowKey = ({ orgId, about }: Pick<MailRequest, 'orgId' | 'about'>): string => `${orgId}#${about}`;
