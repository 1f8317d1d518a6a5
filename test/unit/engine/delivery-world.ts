import { DEFAULT_RETRY_POLICY } from '../../../functions/domain/backoff.ts';
import type { Endpoint } from '../../../functions/domain/endpoint.ts';
import type { OutboxEvent } from '../../../functions/domain/events.ts';
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
import { DeliveryWatch } from './delivery-watch.ts';

/** What comes of an attempt; `breaks` is a defect on our side. */
export type Answer = 'accepts' | 'refuses' | 'breaks';

export const clocks = attemptClocks(10);

/** Times at which messages come back; a run that needs more does not come to an end. */
const MAX_ROUNDS = 100;

/**
 * An event on its way to its endpoints: fan-out and dispatchers as the functions run them, over stores and a queue in memory,
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
  /** Whether the stream was told that it is done with the event. */
  fannedOut = false;

  constructor(event: OutboxEvent, endpoints: readonly Endpoint[], nextAnswer: () => Answer) {
    this.#event = event;
    this.#nextAnswer = nextAnswer;
    for (const endpoint of endpoints) this.endpoints.put(endpoint);
  }

  /** Starts a fan-out of the event: the first one, or a repetition. */
  async startFanOut(): Promise<void> {
    await this.steps.start(async (gate) => {
      const run = fanOut({
        subscribers: interposed('endpoints', this.endpoints, gate),
        deliveries: interposed('deliveries', this.deliveries, gate),
        queue: interposed('queue', this.queue, gate),
        log: this.#log,
        now: this.clock.now,
      });
      const failed = await run([this.#event]);
      if (failed.length === 0) this.fannedOut = true;
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
    while (!this.fannedOut) {
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
