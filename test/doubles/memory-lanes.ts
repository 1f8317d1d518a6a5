import type { Failure } from '../../functions/aws/concurrency.ts';
import type { DeliveryMessage, OutgoingMessage } from '../../functions/delivery/delivery.ts';
import { LANES, type Lane, mapLanes } from '../../functions/delivery/lanes.ts';
import { MemoryQueue, type QueueTerms } from './memory-queue.ts';

/** The delivery queues in memory, with the engine's ports. */
export class MemoryLanes {
  readonly #now: () => Date;
  readonly queues: Readonly<Record<Lane, MemoryQueue>>;
  /** Queues that report to be near their limit. */
  readonly full = new Set<Lane>();

  constructor(terms: QueueTerms) {
    this.#now = terms.now;
    this.queues = mapLanes(() => new MemoryQueue(terms));
  }

  get all(): MemoryQueue[] {
    return LANES.map((lane) => this.queues[lane]);
  }

  /** The delivery messages of all queues, hidden ones included. */
  get deliveryMessages(): DeliveryMessage[] {
    return this.all.flatMap(({ deliveryMessages }) => deliveryMessages);
  }

  get deadLetters(): DeliveryMessage[] {
    return this.all.flatMap(({ deadLetters }) => deadLetters);
  }

  send<M extends OutgoingMessage>(lane: Lane, messages: readonly M[]): Promise<Failure<M>[]> {
    return this.queues[lane].send(messages);
  }

  hide(lane: Lane, receiptHandle: string, until: Date): Promise<void> {
    return this.queues[lane].hide(receiptHandle, until, this.#now());
  }

  async crowded(lane: Lane): Promise<boolean> {
    return this.full.has(lane);
  }

  async backlog(lane: Lane): Promise<number> {
    return this.queues[lane].backlog;
  }

  /** When the next message of any queue becomes visible, without those that are visible by `after`. */
  nextVisibleAt(after?: Date): Date | undefined {
    const times = this.all.flatMap((queue) => queue.nextVisibleAt(after) ?? []);
    return times.reduce<Date | undefined>(
      (first, time) => (first === undefined || time < first ? time : first),
      undefined,
    );
  }
}
