/** When SQS treats a message group as a noisy neighbor (Developer Guide, How Amazon SQS fair queues work). */
export interface FairTerms {
  /** Share of messages in flight and of recent processing time above which a group is noisy. */
  share: number;
  /** Least messages in flight for a group to be noisy by their number. */
  leastInFlight: number;
  /** Seconds that count as recent, which SQS does not document. */
  recentSeconds: number;
}

export const FAIR_TERMS: FairTerms = { share: 0.1, leastInFlight: 30, recentSeconds: 60 };

/** Messages in flight, and their seconds in flight, which decay with age. */
interface Use {
  inFlight: number;
  seconds: number;
  /** Epoch milliseconds. */
  at: number;
}

/** Seconds below which a group without messages in flight is dropped. */
const NEGLIGIBLE = 0.001;

/**
 * Message groups of a standard queue. A message without a group is its own tenant (`undefined`) and never
 * noisy.
 */
export class FairGroups {
  readonly #nowMs: () => number;
  readonly #terms: FairTerms;
  readonly #groups = new Map<string, Use>();
  readonly #all: Use = { inFlight: 0, seconds: 0, at: 0 };

  constructor(nowMs: () => number, terms = FAIR_TERMS) {
    this.#nowMs = nowMs;
    this.#terms = terms;
  }

  received(group: string | undefined): void {
    this.#change(group, 1);
  }

  /** The message was deleted or became visible again. */
  ended(group: string | undefined): void {
    this.#change(group, -1);
  }

  isNoisy(group: string | undefined): boolean {
    const use = group === undefined ? undefined : this.#groups.get(group);
    if (use === undefined) return false;
    this.#advance(use);
    this.#advance(this.#all);
    if (group !== undefined && use.inFlight === 0 && use.seconds < NEGLIGIBLE) this.#groups.delete(group);
    const { share, leastInFlight } = this.#terms;
    return (
      (use.inFlight >= leastInFlight && use.inFlight > share * this.#all.inFlight) ||
      use.seconds > share * this.#all.seconds
    );
  }

  /**
   * @param waiting messages that can be received, in the queue's order
   * @returns messages of quiet groups in their order, then those of noisy groups, fewest in flight first
   */
  choose<M>(waiting: readonly M[], groupOf: (message: M) => string | undefined, limit: number): M[] {
    const noisy = new Map<string, M[]>();
    const hasRoom = new Map<string, boolean>();
    const chosen: M[] = [];
    for (const message of waiting) {
      if (chosen.length >= limit) return chosen;
      const group = groupOf(message);
      if (group === undefined) {
        chosen.push(message);
        continue;
      }
      const isNoisy = hasRoom.get(group) ?? this.isNoisy(group);
      hasRoom.set(group, isNoisy);
      if (!isNoisy) {
        chosen.push(message);
        continue;
      }
      const held = noisy.get(group) ?? [];
      if (held.length < limit) held.push(message);
      noisy.set(group, held);
    }
    const left = [...noisy].map(([group, held]) => ({
      held,
      inFlight: this.#groups.get(group)?.inFlight ?? 0,
    }));
    while (chosen.length < limit) {
      const [least] = left
        .filter(({ held }) => held.length > 0)
        .toSorted((one, other) => one.inFlight - other.inFlight);
      if (least === undefined) break;
      least.inFlight += 1;
      chosen.push(...least.held.splice(0, 1));
    }
    return chosen;
  }

  #change(group: string | undefined, by: 1 | -1): void {
    this.#advance(this.#all);
    this.#all.inFlight += by;
    if (group === undefined) return;
    const use = this.#groups.get(group) ?? { inFlight: 0, seconds: 0, at: this.#nowMs() };
    this.#advance(use);
    use.inFlight += by;
    this.#groups.set(group, use);
  }

  /** Adds the time since the last change and decays older seconds. */
  #advance(use: Use): void {
    const now = this.#nowMs();
    const { recentSeconds } = this.#terms;
    const kept = Math.exp(-Math.max(0, now - use.at) / 1000 / recentSeconds);
    use.seconds = use.seconds * kept + use.inFlight * recentSeconds * (1 - kept);
    use.at = now;
  }
}
