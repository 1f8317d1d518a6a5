import {
  type Admission,
  addToDigest,
  createDigest,
  type Digest,
  type DueDigest,
  fitsLimit,
  type MailLimits,
  toDay,
} from '../../functions/domain/mailing.ts';
import type { NotifyPorts } from '../../functions/engine/notifications.ts';
import type { DigestPorts } from '../../functions/engine/schedule-source-checks.ts';
import { Contended } from '../../functions/store/transaction.ts';

type Budgets = NotifyPorts['budgets'];

/** E-mail budgets and digests in memory. */
export class MemoryMailBudgets implements Budgets {
  readonly #limits: MailLimits;
  readonly #admissions = new Map<string, Admission>();
  readonly #spent = new Map<string, number>();
  readonly #digests = new Map<string, Digest>();

  constructor(limits: MailLimits) {
    this.#limits = limits;
  }

  readonly admit: Budgets['admit'] = async (request, recipients, now) => {
    const day = toDay(now);
    const { orgId, eventId } = request;
    const isOpen = this.#digests.has(`${orgId}#${day}`);
    const count = isOpen ? 0 : await recipients();
    const earlier = this.#admissions.get(`${orgId}#${eventId}`);
    if (earlier?.decision === 'digest' || earlier?.day === day) return { decision: earlier.decision };
    const refusedBy = this.#refusal(orgId, day, count);
    const digest = this.#digests.get(`${orgId}#${day}`);
    if (digest === undefined && refusedBy === undefined) {
      for (const owner of [orgId, 'stage']) this.#spend(owner, day, count);
      this.#admissions.set(`${orgId}#${eventId}`, { decision: 'notice', day });
      return { decision: 'notice' };
    }
    if (digest?.closedAt !== undefined) throw new Contended('the digest is closed');
    this.#digests.set(
      `${orgId}#${day}`,
      addToDigest(digest ?? createDigest(request, day, Math.random()), request.change),
    );
    this.#admissions.set(`${orgId}#${eventId}`, { decision: 'digest', day });
    return { decision: 'digest', ...(digest === undefined && refusedBy !== undefined ? { refusedBy } : {}) };
  };

  readonly admitDigest: Budgets['admitDigest'] = async ({ orgId, eventId }, count, now) => {
    const day = toDay(now);
    if (this.#admissions.get(`${orgId}#${eventId}`)?.day === day) return true;
    if (!fitsLimit(this.spent('stage', day), count, this.#limits.stage)) return false;
    this.#spend('stage', day, count);
    this.#admissions.set(`${orgId}#${eventId}`, { decision: 'notice', day });
    return true;
  };

  readonly close: Budgets['close'] = async ({ orgId }, day, now) => {
    const digest = this.#digests.get(`${orgId}#${day}`);
    if (digest === undefined) return undefined;
    const closed = { ...digest, closedAt: digest.closedAt ?? now.toISOString() };
    this.#digests.set(`${orgId}#${day}`, closed);
    return closed;
  };

  readonly finish: Budgets['finish'] = async ({ orgId }, day) => {
    const { dueAt: _, ...digest } = this.#digests.get(`${orgId}#${day}`) ?? {};
    if ('day' in digest) this.#digests.set(`${orgId}#${day}`, digest as Digest);
  };

  /** The due index. */
  readonly due: DigestPorts['due'] = {
    find: async (until) => ({
      entries: this.digests().flatMap(({ orgId, day, dueAt }): DueDigest[] =>
        dueAt !== undefined && dueAt <= until.toISOString() ? [{ orgId, day, dueAt }] : [],
      ),
    }),
    postpone: async ({ orgId, day, dueAt }, until) => {
      const digest = this.#digests.get(`${orgId}#${day}`);
      if (digest?.dueAt === dueAt)
        this.#digests.set(`${orgId}#${day}`, { ...digest, dueAt: until.toISOString() });
    },
  };

  digests(): Digest[] {
    return [...this.#digests.values()];
  }

  /**
   * Recipients of a day.
   * @param owner an organization, or `stage`
   */
  spent(owner: string, day: string): number {
    return this.#spent.get(`${owner}#${day}`) ?? 0;
  }

  #spend(owner: string, day: string, count: number): void {
    this.#spent.set(`${owner}#${day}`, this.spent(owner, day) + count);
  }

  #refusal(orgId: string, day: string, count: number): 'mail-budget' | 'mail-ceiling' | undefined {
    if (!fitsLimit(this.spent(orgId, day), count, this.#limits.organization)) return 'mail-budget';
    return fitsLimit(this.spent('stage', day), count, this.#limits.stage) ? undefined : 'mail-ceiling';
  }
}
