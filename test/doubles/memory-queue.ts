import { FairGroups, type FairTerms } from 'aws-local/engines/fair-groups.ts';
import type { Failure } from '../../functions/aws/concurrency.ts';
import type { DeliveryMessage, OutgoingMessage } from '../../functions/delivery/delivery.ts';
import { getMessageGroup } from '../../functions/delivery/redelivery.ts';
import { computeDelaySeconds, computeVisibilitySeconds } from '../../functions/delivery/timing.ts';

/** A message as one receive returns it. */
export interface ReceivedMessage {
  message: DeliveryMessage;
  /** The receipt handle of this receive; the next one has another. */
  receiptHandle: string;
  /** How often the message was received, this time included. */
  receives: number;
}

interface Message {
  number: number;
  message: DeliveryMessage;
  receives: number;
  visibleAt: Date;
  /** Whether its group counts it as in flight. */
  isInFlight: boolean;
}

/** The answer of a queue that does not take any of the messages. */
export const refuse = <T>(items: readonly T[]): Failure<T>[] =>
  items.map((item) => ({ item, error: new Error('the queue is down') }));

/** The queue's settings: visibility timeout, maximum of receives, and the groups that it holds back. */
export interface QueueTerms {
  now: () => Date;
  visibilitySeconds: number;
  maxReceives: number;
  fair?: FairTerms;
}

/**
 * The receipt handle names no hidden message: it was removed, became visible again, or moved to the
 * dead-letter queue.
 */
class NotInFlight extends Error {
  override name = 'NotInFlight';
}

/**
 * A standard queue of SQS in memory with fair message groups, on a clock that a test moves. SQS does not say
 * what earlier receipt handles of a message do after another receive; here all of them work, which is the
 * worst case for a late worker.
 */
export class MemoryQueue {
  readonly #now: () => Date;
  readonly #visibilitySeconds: number;
  readonly #maxReceives: number;
  readonly #groups: FairGroups;
  #messages: Message[] = [];
  #sent = 0;
  #refusals = 0;
  readonly deadLetters: DeliveryMessage[] = [];

  constructor(terms: QueueTerms) {
    this.#now = terms.now;
    this.#groups = new FairGroups(() => terms.now().getTime(), terms.fair);
    this.#visibilitySeconds = terms.visibilitySeconds;
    this.#maxReceives = terms.maxReceives;
  }

  /** The content of all messages, hidden ones included. */
  get deliveryMessages(): DeliveryMessage[] {
    return this.#messages.map((message) => message.message);
  }

  /** Makes the queue refuse so many of the next messages, as SQS may refuse any part of a batch. */
  refuse(count: number): void {
    this.#refusals += count;
  }

  /** Accepts all following messages. */
  acceptAll(): void {
    this.#refusals = 0;
  }

  async send<M extends OutgoingMessage>(messages: readonly M[]): Promise<Failure<M>[]> {
    const refused = messages.slice(0, this.#refusals);
    this.#refusals -= refused.length;
    const now = this.#now();
    for (const { message: deliveryMessage, until } of messages.slice(refused.length)) {
      this.#sent += 1;
      const delay = until === undefined ? 0 : computeDelaySeconds(until, now);
      this.#messages.push({
        number: this.#sent,
        message: deliveryMessage,
        receives: 0,
        visibleAt: new Date(now.getTime() + delay * 1000),
        isInFlight: false,
      });
    }
    return refuse(refused);
  }

  /** Received messages that are hidden. Delayed ones do not count. */
  get inFlight(): number {
    return this.#messages.filter(({ receives, visibleAt }) => receives > 0 && visibleAt > this.#now()).length;
  }

  /** Messages that can be received. */
  get backlog(): number {
    return this.#visible().length;
  }

  /**
   * Loses a message, which SQS never does.
   * @param which selects one
   * @returns its content
   */
  lose(which: number): DeliveryMessage | undefined {
    const lost = this.#messages[which % this.#messages.length];
    this.#messages = this.#messages.filter((message) => message !== lost);
    if (lost !== undefined) this.#endFlight(lost);
    return lost?.message;
  }

  /**
   * Moves the first messages behind others, as a standard queue may.
   * @param which so many of them, for any number
   */
  reorder(which: number): void {
    const first = which % Math.max(1, this.#messages.length);
    this.#messages = [...this.#messages.slice(first), ...this.#messages.slice(0, first)];
  }

  /**
   * Delays a message further, or makes a received one visible; a delayed one is not visible before its time.
   * @param which selects one
   */
  delay(which: number, until: Date): void {
    const message = this.#messages[which % this.#messages.length];
    if (message !== undefined && (message.receives > 0 || until > message.visibleAt))
      message.visibleAt = until;
  }

  /**
   * Returns up to `limit` visible messages, those of quiet groups first, and hides them; a message that was
   * received too often moves to the dead-letter queue instead.
   */
  receive(limit = 10): ReceivedMessage[] {
    for (const message of this.#visible()) this.#endFlight(message);
    const spent = this.#visible().filter((message) => message.receives >= this.#maxReceives);
    this.deadLetters.push(...spent.map((message) => message.message));
    this.#messages = this.#messages.filter((message) => !spent.includes(message));
    const chosen = this.#groups.choose(
      this.#visible(),
      ({ message: deliveryMessage }) => getMessageGroup(deliveryMessage),
      limit,
    );
    return chosen.map((message) => {
      message.receives += 1;
      message.visibleAt = new Date(this.#now().getTime() + this.#visibilitySeconds * 1000);
      message.isInFlight = true;
      const { number, message: deliveryMessage, receives } = message;
      this.#groups.received(getMessageGroup(deliveryMessage));
      return { message: deliveryMessage, receiptHandle: `${number}/${receives}`, receives };
    });
  }

  /** @throws NotInFlight when the message is not hidden */
  async hide(receiptHandle: string, until: Date, now: Date): Promise<void> {
    const message = this.#messages.find(({ number }) => number === numberOf(receiptHandle));
    if (message === undefined || message.visibleAt <= this.#now())
      throw new NotInFlight(`no message is in flight by the receipt ${receiptHandle}`);
    message.visibleAt = new Date(now.getTime() + computeVisibilitySeconds(until, now) * 1000);
  }

  async remove(receiptHandle: string): Promise<void> {
    const removed = this.#messages.find(({ number }) => number === numberOf(receiptHandle));
    if (removed === undefined) return;
    this.#endFlight(removed);
    this.#messages = this.#messages.filter((message) => message !== removed);
  }

  #endFlight(message: Message): void {
    if (message.isInFlight) this.#groups.ended(getMessageGroup(message.message));
    message.isInFlight = false;
  }

  /**
   * When the next message becomes visible; undefined when there is none.
   * @param after leaves out those that are visible by then
   */
  nextVisibleAt(after = new Date(0)): Date | undefined {
    return this.#messages
      .map((message) => message.visibleAt)
      .filter((visibleAt) => visibleAt > after)
      .reduce<Date | undefined>(
        (first, time) => (first === undefined || time < first ? time : first),
        undefined,
      );
  }

  #visible(): Message[] {
    return this.#messages.filter((message) => message.visibleAt <= this.#now());
  }
}

const numberOf = (receiptHandle: string): number => Number.parseInt(receiptHandle, 10);
