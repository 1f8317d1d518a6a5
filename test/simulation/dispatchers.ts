import { attemptDelivery } from '../../functions/delivery/attempt.ts';
import { deliveryContexts, processDeliveryMessages } from '../../functions/delivery/dispatch.ts';
import { LANES, type Lane } from '../../functions/delivery/lanes.ts';
import { endpointTurns, rateScheduleStore } from '../../functions/delivery/turns.ts';
import { endpointStateStore } from '../../functions/receivers/endpoint.ts';
import { endpointPaces } from '../../functions/receivers/pace.ts';
import type { ReceivedMessage } from '../doubles/memory-queue.ts';
import { noMeasures } from '../doubles/no-measures.ts';
import { brokenBy } from './failures.ts';
import type { Process } from './processes.ts';
import type { Reach } from './reach.ts';
import { senderOf } from './sender.ts';
import { clocks } from './witness.ts';
import type { World } from './world.ts';

/** A process of the dispatcher function. It caches marks of slow endpoints for as long as it lives. */
interface Dispatcher {
  process: Process;
  isBusy: boolean;
  run(lane: Lane, messages: readonly ReceivedMessage[]): Promise<void>;
}

/** The dispatcher function with its event source mappings, one for each queue. */
export class Dispatchers {
  readonly #world: World;
  readonly #reach: (process: Process) => Reach;
  #pool: Dispatcher[] = [];

  constructor(world: World, reach: (process: Process) => Reach) {
    this.#world = world;
    this.#reach = reach;
  }

  get busy(): number {
    return this.#pool.filter(({ isBusy }) => isBusy).length;
  }

  /** Queues that have a message for a free dispatcher. */
  get waiting(): Lane[] {
    const { terms, clock, dispatchersStalledUntilMs } = this.#world;
    if (this.busy >= terms.dispatchers || clock.ms < dispatchersStalledUntilMs) return [];
    return LANES.filter((lane) => this.#world.lanes.queues[lane].backlog > 0);
  }

  start(lane: Lane): void {
    const { lanes, random, terms, clock, deadMessages, witness, statistics } = this.#world;
    const queue = lanes.queues[lane];
    const messages = queue.receive(random.between(1, terms.batchSize));
    for (const deliveryMessage of queue.deadLetters.splice(0)) {
      deadMessages.send(deliveryMessage, clock.ms);
      statistics.count('messages given up');
    }
    if (messages.length === 0) return;
    statistics.count(`batches of the ${lane} lane`);
    for (const { message: deliveryMessage } of messages) witness.receiving(deliveryMessage.id);
    const free = this.#pool.find(({ isBusy }) => !isBusy) ?? this.#create();
    const { process } = free;
    free.isBusy = true;
    process.invokedMs = clock.ms;
    process.deadline = clock.ms + clocks.functionTimeout * 1000;
    this.#world.trace?.(
      `${process.name}  receives ${messages.map(({ message }) => message.id).join(', ')} from ${lane}`,
    );
    free.run(lane, messages).then(
      () => this.#rest(free),
      (error: unknown) => {
        const promise = brokenBy(error);
        if (promise !== undefined)
          witness.tell(promise, `${process.name}: ${error instanceof Error && error.stack}`);
        this.#rest(free);
      },
    );
  }

  #rest(dispatcher: Dispatcher): void {
    dispatcher.isBusy = false;
    dispatcher.process.deadline = Number.POSITIVE_INFINITY;
    // A process that was timed out is not used again, although it came to its end.
    if (!this.#pool.includes(dispatcher)) this.#world.processes.lose(dispatcher.process);
  }

  #create(): Dispatcher {
    const { processes, random, faults } = this.#world;
    const process = processes.start('dispatch', random.between(-faults.maxSkewMs, faults.maxSkewMs));
    const reach = this.#reach(process);
    const created: Dispatcher = {
      process,
      isBusy: false,
      run: this.#runOf(process, reach),
    };
    process.whenLost = () => {
      this.#pool = this.#pool.filter((other) => other !== created);
    };
    this.#pool.push(created);
    return created;
  }

  #runOf(process: Process, reach: Reach): Dispatcher['run'] {
    const { terms, lanes, witness, clock } = this.#world;
    const { tables, deliveries, organizations, queues, log, now, wait } = reach;
    const { service, outbox, rates } = tables;
    const schedules = rateScheduleStore(rates);
    const takeTurn = endpointTurns({
      schedules: {
        ...schedules,
        async take(id, asked) {
          const given = await schedules.take(id, asked);
          witness.limits.given(process, id, given.times);
          return given;
        },
      },
      deliveries,
      log,
      now,
      longestDelayMs: terms.longestTurnMs,
    });
    const processMessage = attemptDelivery(
      {
        deliveries,
        paces: endpointPaces({ ...endpointStateStore(service), log, now }, clocks.attempt),
        queues,
        prepareSend: senderOf(this.#world, process, organizations),
        async takeTurn(limited) {
          const [ms, skewMs] = [clock.ms, process.skewMs];
          const outcome = await takeTurn(limited);
          // The clock may have stepped before the time was given, or after.
          const asked = new Date(ms + Math.min(skewMs, process.skewMs));
          witness.limits.answered(process, limited.message, asked, outcome);
          return outcome;
        },
        measures: noMeasures,
        log,
        now,
        wait: (seconds) => wait(Math.ceil(seconds * 1000) / 1000),
      },
      { retry: terms.retry, leaseSeconds: clocks.lease },
    );
    const readContexts = deliveryContexts(service, outbox, (error) => log('BATCH_READ_REFUSED', { error }));
    const run = processDeliveryMessages({
      attempt: async (message, context, lane) => {
        witness.attempts.processing(process, message, lane);
        let failed = true;
        try {
          const disposition = await processMessage(message, context, lane);
          failed = false;
          return disposition;
        } finally {
          witness.attempts.processed(process, message, failed);
        }
      },
      organizations,
      contexts: (messages) => {
        witness.resetDeletion.reads(process, messages);
        return readContexts(messages);
      },
      queues,
      log,
      now,
    });
    const { remove } = reach.gate('batch', {
      remove: async (lane: Lane, { receiptHandle, message }: ReceivedMessage) => {
        await lanes.queues[lane].remove(receiptHandle);
        witness.deleted(process, message);
      },
    });
    return async (lane, messages) => {
      // A message belongs to the generation that is current when its batch begins.
      const ends = messages.map(({ message }) => witness.resetDeletion.begins(process, message));
      const staying = await run(lane, messages).finally(() => {
        for (const end of ends) end();
      });
      const handles = new Set(staying.map(({ receiptHandle }) => receiptHandle));
      // The mapping deletes messages that the function does not report as failed.
      for (const message of messages) if (!handles.has(message.receiptHandle)) await remove(lane, message);
    };
  }
}
