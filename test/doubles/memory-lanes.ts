import type { DeliveryMessage, OutgoingMessage } from '../../functions/domain/delivery.ts';
import { LANES, type Lane, mapLanes } from '../../functions/domain/lanes.ts';
import { MemoryQueue, type QueueTerms } from './memory-queue.ts';

/** The delivery queues in memory, as the engine's ports see them. */
export class MemoryLanes {
  readonly #now: () => Date;
  readonly queues: Readonly<Record<Lane, MemoryQueue>>;
  /** Lanes that say to be near their limit. */
  readonly full = new Set<Lane>();

  constructor(terms: QueueTerms) {
    this.#now = terms.now;
    this.queues = mapLanes(() => new MemoryQueue(terms));
  }

  get all(): MemoryQueue[] {
    return LANES.map((lane) => this.queues[lane]);
  }

  /** What the messages of all lanes remind of, hidden ones included. */
  get reminders(): DeliveryMessage[] {
    return this.all.flatMap(({ reminders }) => reminders);
  }

  get deadLetters(): DeliveryMessage[] {
    return this.all.flatMap(({ deadLetters }) => deadLetters);
  }

  send(lane: Lane, messages: readonly OutgoingMessage[]): Promise<DeliveryMessage[]> {
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

  /** When the next message of any lane can be received, of those that cannot be by `after`. */
  nextVisibleAt(after?: Date): Date | undefined {
    const times = this.all.flatMap((queue) => queue.nextVisibleAt(after) ?? []);
    return times.reduce<Date | undefined>(
      (first, time) => (first === undefined || time < first ? time : first),
      undefined,
    );
  }
}
