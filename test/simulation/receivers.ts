import type { ReceiverId } from '../../functions/aws/ids.ts';
import { DEFAULT_ATTEMPT_TIMEOUT_SECONDS } from '../../functions/delivery/timing.ts';
import type { Random } from './random.ts';

/**
 * The behavior of a receiver. `wavers`: its answers vary, and after some time it also `drags`. `breaks`: the
 * attempt itself fails, by a defect of the service.
 */
const MANNERS = [
  'accepts',
  'accepts',
  'refuses',
  'refuses',
  'refuses',
  'hangs',
  'accepts-slowly',
  'refuses-slowly',
  'wavers',
  'drags',
  'breaks',
] as const;
type Manner = (typeof MANNERS)[number];
/** In runs with few attempts for each delivery: some fail while others in progress will succeed. */
const UNCERTAIN: readonly Manner[] = ['wavers', 'wavers', 'drags'];

export interface Answer {
  /** Undefined without an answer by the deadline. */
  status: number | undefined;
  seconds: number;
}

/** The receivers of all endpoints. Each has a behavior, which may change. */
export class Receivers {
  readonly #random: Random;
  readonly #areUncertain: boolean;
  readonly #manners = new Map<ReceiverId, { manner: Manner; fickleness: number }>();

  constructor(random: Random, areUncertain: boolean) {
    this.#random = random;
    this.#areUncertain = areUncertain;
  }

  /**
   * @param canBreak whether the service itself may fail
   * @returns undefined when no request can be made
   */
  answer(id: ReceiverId, canBreak: boolean): Answer | undefined {
    const receiver = this.#manners.get(id);
    if (receiver === undefined || this.#random.chance(receiver.fickleness)) {
      const fickleness = this.#areUncertain ? 0.3 : this.#random.pick([0, 0, 0.05, 0.3]);
      const manners = this.#areUncertain ? UNCERTAIN : MANNERS;
      this.#manners.set(id, { manner: this.#random.pick(manners), fickleness });
    }
    const { manner } = this.#manners.get(id) ?? { manner: 'accepts' };
    return manner === 'breaks' && canBreak && this.#random.chance(0.5) ? undefined : this.#answerOf(manner);
  }

  #answerOf(manner: Manner): Answer {
    switch (manner) {
      case 'accepts':
        return { status: 204, seconds: 0 };
      case 'refuses':
      case 'breaks':
        return { status: 500, seconds: 0 };
      case 'hangs':
        return { status: undefined, seconds: DEFAULT_ATTEMPT_TIMEOUT_SECONDS };
      case 'accepts-slowly':
        return { status: 204, seconds: this.#random.pick([0.5, 2, 8]) };
      case 'refuses-slowly':
        return { status: 500, seconds: this.#random.pick([0.5, 2, 8]) };
      case 'wavers':
        return { status: this.#random.chance(0.5) ? 204 : 500, seconds: 0 };
      case 'drags':
        return { status: this.#random.chance(0.5) ? 204 : 500, seconds: this.#random.pick([0, 0.5, 8]) };
    }
  }
}
