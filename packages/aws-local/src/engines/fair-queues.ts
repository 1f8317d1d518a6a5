import { FairGroups } from './fair-groups.ts';
import type { Queue, SqsStore } from './fauxqs.ts';
import { pollOnTime } from './poll-on-time.ts';

type InFlight = Queue['inflightMessages'];

/**
 * Makes the store's standard queues fair queues: keeps message groups and orders messages by them. Also makes
 * their polls end on time.
 */
export function serveFairly(store: SqsStore): void {
  const create = store.createQueue.bind(store);
  store.createQueue = (...definition) => {
    const queue = create(...definition);
    return queue.isFifo() ? queue : pollOnTime(fair(queue));
  };
}

function fair(queue: Queue): Queue {
  const groups = new FairGroups(Date.now);
  const dequeue = queue.dequeue.bind(queue);
  queue.inflightMessages = new CountedByGroup(groups);
  queue.dequeue = (count, ...terms) => {
    queue.processTimers();
    const chosen = groups.choose(queue.messages, ({ messageGroupId }) => messageGroupId, count);
    if (chosen.some((message, index) => message !== queue.messages[index])) {
      const first = new Set(chosen);
      queue.messages = [...chosen, ...queue.messages.filter((message) => !first.has(message))];
    }
    return dequeue(count, ...terms);
  };
  return queue;
}

/** Messages in flight by receipt, which also counts them by group. */
class CountedByGroup extends Map<string, InFlight extends Map<string, infer Entry> ? Entry : never> {
  readonly #groups: FairGroups;

  constructor(groups: FairGroups) {
    super();
    this.#groups = groups;
  }

  override set(...[receipt, entry]: Parameters<InFlight['set']>): this {
    this.delete(receipt);
    this.#groups.received(entry.message.messageGroupId);
    return super.set(receipt, entry);
  }

  override delete(receipt: string): boolean {
    const entry = this.get(receipt);
    if (entry !== undefined) this.#groups.ended(entry.message.messageGroupId);
    return super.delete(receipt);
  }

  override clear(): void {
    for (const receipt of [...this.keys()]) this.delete(receipt);
  }
}
