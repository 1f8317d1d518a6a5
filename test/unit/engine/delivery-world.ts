import { DEFAULT_RETRY_POLICY } from '../../../functions/domain/backoff.ts';
import { reminderOf } from '../../../functions/domain/delivery.ts';
import { DEFAULT_GRACE_SECONDS } from '../../../functions/domain/due.ts';
import type { Endpoint } from '../../../functions/domain/endpoint.ts';
import type { OutboxEvent } from '../../../functions/domain/events.ts';
import { LANES, type Lane } from '../../../functions/domain/lanes.ts';
import { type Owed, redeliveryOf } from '../../../functions/domain/redelivery.ts';
import { attemptClocks, RECONCILE_EVERY_SECONDS } from '../../../functions/domain/timing.ts';
import { type DispatchPorts, dispatch } from '../../../functions/engine/dispatch.ts';
import { dispatcher } from '../../../functions/engine/dispatcher.ts';
import { fanOut } from '../../../functions/engine/fan-out.ts';
import { reconcile } from '../../../functions/engine/reconcile.ts';
import { type Gate, interposed } from '../../doubles/interposed.ts';
import { MemoryDeliveries } from '../../doubles/memory-deliveries.ts';
import { MemoryDueIndex } from '../../doubles/memory-due-index.ts';
import { MemoryEndpoints } from '../../doubles/memory-endpoints.ts';
import { MemoryLanes } from '../../doubles/memory-lanes.ts';
import type { ReceivedReminder } from '../../doubles/memory-queue.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { Steps } from '../../doubles/steps.ts';
import { VirtualClock } from '../../doubles/virtual-clock.ts';
import { DeliveryWatch, isOpen } from './delivery-watch.ts';

/** What comes of an attempt; `breaks` is a defect on our side. */
export type Answer = 'accepts' | 'refuses' | 'breaks';

export const clocks = attemptClocks(10);

/** Times at which messages or deliveries without one come back; a run that needs more does not come to an end. */
const MAX_ROUNDS = 100;

/**
 * An event on its way to its endpoints, and again when it is asked for: fan-out and dispatchers as the functions run them, over stores and queues in memory,
 * one step at a time on a clock that the test moves.
 */
export class DeliveryWorld {
  readonly steps = new Steps();
  readonly clock = new VirtualClock();
  readonly endpoints = new MemoryEndpoints();
  readonly deliveries = new MemoryDeliveries(this.endpoints);
  readonly lanes = new MemoryLanes({
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
        queues: interposed('queues', this.lanes, gate),
        log: this.#log,
        now: this.clock.now,
      });
      const failed = await run(batch);
      for (const owed of batch) if (!failed.includes(owed)) this.#done.add(owed);
    });
  }

  /** Starts a dispatcher on the next message. @returns whether one could be received */
  async startDispatch(): Promise<boolean> {
    for (const lane of LANES) {
      const [message] = this.lanes.queues[lane].receive(1);
      if (message === undefined) continue;
      await this.steps.start((gate) => this.#dispatch(lane, message, gate));
      return true;
    }
    return false;
  }

  /** Does to a message what the dispatcher function and its queue do. */
  async #dispatch(lane: Lane, message: ReceivedReminder, gate: Gate): Promise<void> {
    const endpoints = interposed('endpoints', this.endpoints, gate);
    const deliveries = interposed('deliveries', this.deliveries, gate);
    const queues = interposed('queues', this.lanes, gate);
    const queue = interposed('queue', this.lanes.queues[lane], gate);
    const { attempt } = interposed('receiver', { attempt: this.#receive }, gate);
    const deal = dispatch(
      { deliveries, endpoints, queues, attempt, log: this.#log, now: this.clock.now },
      { retry: DEFAULT_RETRY_POLICY, leaseSeconds: clocks.lease },
    );
    const run = dispatcher({
      deal,
      contexts: async () => {
        const { orgId, webhookId } = message.reminder;
        const endpoint = await endpoints.find(orgId, webhookId);
        return () => ({ endpoint, event: this.#event });
      },
      queues,
      log: this.#log,
    });
    try {
      const staying = await run(lane, [message]);
      if (staying.length === 0) await queue.remove(message.receiptHandle);
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
    for (let round = 0; this.lanes.reminders.length > 0 || this.deliveries.due.length > 0; round += 1) {
      if (round === MAX_ROUNDS) throw new Error(`after ${MAX_ROUNDS} rounds there are still messages`);
      if (this.lanes.reminders.length === 0) await this.#resume();
      this.clock.elapseUntil(this.lanes.nextVisibleAt() ?? this.clock.now());
      while (await this.startDispatch()) await this.#finishSteps();
    }
  }

  /**
   * Lets the reconciler bring back what has no message and is due next: parked deliveries, and those whose message a worker deleted so late that
   * the delivery had come to need it again.
   */
  async #resume(): Promise<void> {
    this.clock.elapseUntil(
      new Date(Math.min(...this.deliveries.due.map(({ due }) => Date.parse(due.dueAt)))),
    );
    const run = reconcile(
      {
        due: new MemoryDueIndex(this.deliveries, { sharded: false }),
        queues: this.lanes,
        log: this.#log,
        now: this.clock.now,
      },
      { shards: 1, graceSeconds: DEFAULT_GRACE_SECONDS, lookaheadSeconds: RECONCILE_EVERY_SECONDS },
    );
    await run(() => true);
  }

  async #finishSteps(): Promise<void> {
    while (this.steps.waiting > 0) {
      await this.steps.goOn(0);
      this.look();
    }
  }
}
