/** When SQS takes a message group for a noisy neighbor (Developer Guide, How Amazon SQS fair queues work). */
export interface FairTerms {
  /** Share of the messages in flight, and of the recent processing time, beyond which a group is noisy. */
  share: number;
  /** Messages in flight that a group must have to be noisy by their number. */
  leastInFlight: number;
  /** What counts as recent. SQS does not say. Seconds. */
  recentSeconds: number;
}

export const FAIR_TERMS: FairTerms = { share: 0.1, leastInFlight: 30, recentSeconds: 60 };

/**
 * Messages in flight, and seconds that messages spent there, which count the less the longer ago they are.
 */
interface Use {
  inFlight: number;
  seconds: number;
  /** Milliseconds since the epoch. */
  at: number;
}

/** Below this a group without messages in flight is forgotten. Seconds. */
const NEGLIGIBLE = 0.001;

/**
 * The message groups of a standard queue. A message without a group is a tenant of its own (`undefined`),
 * which is never noisy.
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

  /** A message was received. */
  received(group: string | undefined): void {
    this.#change(group, 1);
  }

  /** A received message was deleted, or can be received again. */
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
   * The messages to hand out next: those of quiet groups in their order, then those of noisy groups, of the
   * group with the fewest messages in flight first.
   * @param waiting messages that can be received, in the queue's order
   */
  choose<M>(waiting: readonly M[], groupOf: (message: M) => string | undefined, limit: number): M[] {
    const noisy = new Map<string, M[]>();
    const known = new Map<string, boolean>();
    const chosen: M[] = [];
    for (const message of waiting) {
      if (chosen.length >= limit) return chosen;
      const group = groupOf(message);
      if (group === undefined) {
        chosen.push(message);
        continue;
      }
      const isNoisy = known.get(group) ?? this.isNoisy(group);
      known.set(group, isNoisy);
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

  /** Adds the time since the last change, with older seconds decaying. */
  #advance(use: Use): void {
    const now = this.#nowMs();
    const { recentSeconds } = this.#terms;
    const kept = Math.exp(-Math.max(0, now - use.at) / 1000 / recentSeconds);
    use.seconds = use.seconds * kept + use.inFlight * recentSeconds * (1 - kept);
    use.at = now;
  }
}
