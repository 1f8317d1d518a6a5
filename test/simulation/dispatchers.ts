import type { DeliveryMessage } from '../../functions/domain/delivery.ts';
import { LANES, type Lane } from '../../functions/domain/lanes.ts';
import type { ReceivedMessage } from '../doubles/memory-queue.ts';
import { noMeasures } from '../doubles/no-measures.ts';
import type { Engine } from './engine.ts';
import { brokenBy } from './failures.ts';
import type { Process } from './processes.ts';
import type { Reach } from './reach.ts';
import { senderOf } from './sender.ts';
import { clocks } from './witness.ts';
import type { World } from './world.ts';

/** A process of the dispatcher function. It caches marks of slow endpoints for as long as it lives. */
interface Dispatcher {
  process: Process;
  /** The queues that its code knows. */
  lanes: readonly Lane[];
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
    if (this.busy >= this.#world.terms.dispatchers) return [];
    return LANES.filter((lane) => this.#world.lanes.queues[lane].backlog > 0);
  }

  start(lane: Lane): void {
    const { lanes, random, terms, clock, deadReminders, witness, statistics } = this.#world;
    const queue = lanes.queues[lane];
    const messages = queue.receive(random.between(1, terms.batchSize));
    for (const reminder of queue.deadLetters.splice(0)) {
      deadReminders.send(reminder, clock.ms);
      statistics.count('messages given up');
    }
    if (messages.length === 0) return;
    statistics.count(`batches of the ${lane} lane`);
    for (const { message: reminder } of messages) witness.receiving(reminder.id);
    const free = this.#freeFor(lane);
    const { process } = free;
    free.isBusy = true;
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

  /**
   * A queue is read by code that knows it, even if the rest of the function runs the previous version
   * (`newest` in `lib/cloud/release.ts`).
   */
  #freeFor(lane: Lane): Dispatcher {
    const fits = ({ isBusy, lanes }: Dispatcher) => !isBusy && lanes.includes(lane);
    let found = this.#pool.find(fits);
    while (found === undefined) {
      const created = this.#create();
      if (fits(created)) found = created;
    }
    return found;
  }

  #create(): Dispatcher {
    const { processes, random, faults } = this.#world;
    const process = processes.start('dispatch', random.between(-faults.maxSkewMs, faults.maxSkewMs));
    const reach = this.#reach(process);
    const created: Dispatcher = {
      process,
      lanes: reach.own.lanes,
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
    const { terms, lanes, witness } = this.#world;
    const { own, deliveries, endpoints, schedules, standings, queues, log, now } = reach;
    const prepare = senderOf(this.#world, process, own.engine, standings);
    // The previous version reads organization states here.
    const wait = (seconds: number) => this.#world.processes.sleep(process, Math.ceil(seconds * 1000) / 1000);
    const ports = { deliveries, endpoints, standings, queues, log, now, wait, measures: noMeasures };
    // Unknown to the previous version.
    const { endpointTurns } = own.engine as Partial<Engine>;
    const takeTurn = endpointTurns?.({ schedules, deliveries, log, now }, terms.graceSeconds);
    const deal = own.engine.attemptDelivery(
      {
        ...ports,
        prepare,
        async takeTurn(limited) {
          const turn = (await takeTurn?.(limited)) ?? { kind: 'start', at: 0 };
          witness.limits.given(limited.message, turn);
          return turn;
        },
      },
      { retry: terms.retry, leaseSeconds: clocks.lease, attemptSeconds: clocks.attempt },
    );
    const { contexts, remove } = reach.gate('batch', {
      contexts: (reminders: readonly DeliveryMessage[]) => {
        this.#world.reads(process);
        return own.contexts(reminders);
      },
      remove: async (lane: Lane, { receiptHandle, message: reminder }: ReceivedMessage) => {
        await lanes.queues[lane].remove(receiptHandle);
        witness.deleted(process, reminder);
      },
    });
    const run = own.engine.processDeliveryMessages({
      attempt: async (reminder, context, lane) => {
        witness.attempts.dealing(process, reminder);
        let failed = true;
        try {
          const disposition = await deal(reminder, context, lane);
          failed = false;
          return disposition;
        } finally {
          witness.attempts.dealt(process, reminder, failed);
        }
      },
      organizations: standings,
      contexts,
      queues,
      log,
      now,
    });
    return async (lane, messages) => {
      const readable = messages.flatMap((message) => {
        const reminder = own.reminder(message.message);
        return reminder === undefined ? [] : [{ ...message, message: reminder }];
      });
      // A message belongs to the generation that is current when its batch begins.
      const ends = readable.map(({ message: reminder }) => witness.resetDeletion.begins(process, reminder));
      const staying = await run(lane, readable).finally(() => {
        for (const end of ends) end();
      });
      const handles = new Set(staying.map(({ receiptHandle }) => receiptHandle));
      // The mapping deletes messages that the function does not report as failed.
      for (const message of messages) if (!handles.has(message.receiptHandle)) await remove(lane, message);
    };
  }
}
