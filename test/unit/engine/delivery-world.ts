import { DEFAULT_RETRY_POLICY } from '../../../functions/domain/backoff.ts';
import { reminderOf } from '../../../functions/domain/delivery.ts';
import type { Endpoint } from '../../../functions/domain/endpoint.ts';
import type { OutboxEvent } from '../../../functions/domain/events.ts';
import { type Owed, redeliveryOf } from '../../../functions/domain/redelivery.ts';
import { attemptClocks } from '../../../functions/domain/timing.ts';
import { type DispatchPorts, dispatch } from '../../../functions/engine/dispatch.ts';
import { fanOut } from '../../../functions/engine/fan-out.ts';
import { type Gate, interposed } from '../../doubles/interposed.ts';
import { MemoryDeliveries } from '../../doubles/memory-deliveries.ts';
import { MemoryEndpoints } from '../../doubles/memory-endpoints.ts';
import { MemoryQueue, type ReceivedReminder } from '../../doubles/memory-queue.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { Steps } from '../../doubles/steps.ts';
import { VirtualClock } from '../../doubles/virtual-clock.ts';
import { DeliveryWatch, isOpen } from './delivery-watch.ts';

/** What comes of an attempt; `breaks` is a defect on our side. */
export type Answer = 'accepts' | 'refuses' | 'breaks';

export const clocks = attemptClocks(10);

/** Times at which messages come back; a run that needs more does not come to an end. */
const MAX_ROUNDS = 100;

/**
 * An event on its way to its endpoints, and again when it is asked for: fan-out and dispatchers as the functions run them, over stores and a queue in memory,
 * one step at a time on a clock that the test moves.
 */
export class DeliveryWorld {
  readonly steps = new Steps();
  readonly clock = new VirtualClock();
  readonly endpoints = new MemoryEndpoints();
  readonly deliveries = new MemoryDeliveries(this.endpoints);
  readonly queue = new MemoryQueue({
    now: this.clock.now,
    visibilitySeconds: clocks.visibility,
    maxReceives: 1000,
  });
  readonly #watch = new DeliveryWatch();
  readonly #log = recordedLog();
  readonly #event: OutboxEvent;
  readonly #nextAnswer: () => Answer;
  /** What was committed to the outbox, in the order of its stream, and what the stream was told to be done with. */
  readonly #outbox: Owed[];
  readonly #done = new Set<Owed>();

  constructor(event: OutboxEvent, endpoints: readonly Endpoint[], nextAnswer: () => Answer) {
    this.#event = event;
    this.#outbox = [{ kind: 'event', event }];
    this.#nextAnswer = nextAnswer;
    for (const endpoint of endpoints) this.endpoints.put(endpoint);
  }

  /** Whether the stream is done with the event. */
  get fannedOut(): boolean {
    return this.#outbox.some((owed) => owed.kind === 'event' && this.#done.has(owed));
  }

  /**
   * Sends a delivery again that has ended, as the API does: the new one and its order are there at once. Does nothing when there is
   * none or when it may not be.
   * @param which picks one of those that have ended
   */
  async redeliver(which: number): Promise<void> {
    const ended = this.deliveries.every.filter((delivery) => !isOpen(delivery));
    const delivery = ended[which % ended.length];
    const endpoint = delivery && (await this.endpoints.find(delivery.orgId, delivery.webhookId));
    if (delivery === undefined || endpoint === undefined) return;
    const redelivery = redeliveryOf(delivery, endpoint, this.clock.now());
    if (redelivery.kind === 'refused') return;
    await this.deliveries.add(redelivery.delivery);
    this.#outbox.push({ kind: 'redelivery', reminder: reminderOf(redelivery.delivery) });
  }

  /** Starts a fan-out from the first entry that the stream is not done with, or of everything once more. */
  async startFanOut(): Promise<void> {
    const first = this.#outbox.findIndex((owed) => !this.#done.has(owed));
    const batch = this.#outbox.slice(Math.max(first, 0));
    await this.steps.start(async (gate) => {
      const run = fanOut({
        subscribers: interposed('endpoints', this.endpoints, gate),
        deliveries: interposed('deliveries', this.deliveries, gate),
        queue: interposed('queue', this.queue, gate),
        log: this.#log,
        now: this.clock.now,
      });
      const failed = await run(batch);
      for (const owed of batch) if (!failed.includes(owed)) this.#done.add(owed);
    });
  }

  /** Starts a dispatcher on the next message. @returns whether one could be received */
  async startDispatch(): Promise<boolean> {
    const [message] = this.queue.receive(1);
    if (message) await this.steps.start((gate) => this.#dispatch(message, gate));
    return message !== undefined;
  }

  /** Does to a message what the dispatcher function and its queue do. */
  async #dispatch({ reminder, receiptHandle }: ReceivedReminder, gate: Gate): Promise<void> {
    const endpoints = interposed('endpoints', this.endpoints, gate);
    const deliveries = interposed('deliveries', this.deliveries, gate);
    const queue = interposed('queue', this.queue, gate);
    const { attempt } = interposed('receiver', { attempt: this.#receive }, gate);
    const deal = dispatch(
      { deliveries, endpoints, attempt, log: this.#log, now: this.clock.now },
      { retry: DEFAULT_RETRY_POLICY, leaseSeconds: clocks.lease },
    );
    try {
      const endpoint = await endpoints.find(reminder.orgId, reminder.webhookId);
      const disposition = await deal(reminder, { endpoint, event: this.#event });
      if (disposition.kind === 'delete') await queue.remove(receiptHandle);
      else await queue.hide(receiptHandle, disposition.until, this.clock.now());
    } catch (reason) {
      this.#log.error('the message is left to its queue', { reason: String(reason) });
    }
  }

  readonly #receive: DispatchPorts['attempt'] = async (claimed) => {
    this.#watch.attemptStarts(claimed, this.clock.now());
    const answer = this.#nextAnswer();
    if (answer === 'breaks') throw new Error('the attempt could not be made');
    return answer === 'accepts' ? { status: 204 } : { status: 500, error: 'the receiver answered 500' };
  };

  /** Looks at everything after a step. */
  look(): void {
    this.#watch.look(this.deliveries.every);
  }

  /** Lets everything run to its end without further mishaps, over as much time as it takes. */
  async finish(): Promise<void> {
    await this.#finishSteps();
    while (this.#done.size < this.#outbox.length) {
      await this.startFanOut();
      await this.#finishSteps();
    }
    for (let round = 0; this.queue.reminders.length > 0; round += 1) {
      if (round === MAX_ROUNDS) throw new Error(`after ${MAX_ROUNDS} rounds there are still messages`);
      this.clock.elapseUntil(this.queue.nextVisibleAt() ?? this.clock.now());
      while (await this.startDispatch()) await this.#finishSteps();
    }
  }

  async #finishSteps(): Promise<void> {
    while (this.steps.waiting > 0) {
      await this.steps.goOn(0);
      this.look();
    }
  }
}
