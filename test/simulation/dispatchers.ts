import type { Reminder } from '../../functions/domain/delivery.ts';
import { LANES, type Lane, SLOW_AFTER_SECONDS } from '../../functions/domain/lanes.ts';
import { type DispatchPorts, dispatch } from '../../functions/engine/dispatch.ts';
import { dispatcher } from '../../functions/engine/dispatcher.ts';
import type { ReceivedReminder } from '../doubles/memory-queue.ts';
import { Interference } from './ports.ts';
import { forever, type Process } from './processes.ts';
import type { Reach } from './reach.ts';
import { clocks } from './witness.ts';
import type { World } from './world.ts';

/** A process of the dispatcher function. It keeps what it knows of slow endpoints for as long as it lives. */
interface Dispatcher {
  process: Process;
  isBusy: boolean;
  run(lane: Lane, messages: readonly ReceivedReminder[]): Promise<void>;
}

/** The dispatcher function with its mappings, one for each lane. */
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

  /** Lanes that have a message for a dispatcher that has time. */
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
    for (const { reminder } of messages) witness.receiving(reminder.id);
    const free = this.#pool.find(({ isBusy }) => !isBusy) ?? this.#create();
    const { process } = free;
    free.isBusy = true;
    process.deadline = clock.ms + clocks.functionTimeout * 1000;
    this.#world.trace?.(
      `${process.name}  receives ${messages.map(({ reminder }) => reminder.id).join(', ')} from ${lane}`,
    );
    free.run(lane, messages).then(
      () => this.#rest(free),
      (error: unknown) => {
        if (error instanceof TypeError) witness.tell('no defect', `${process.name}: ${error.stack}`);
        this.#rest(free);
      },
    );
  }

  #rest(dispatcher: Dispatcher): void {
    dispatcher.isBusy = false;
    dispatcher.process.deadline = Number.POSITIVE_INFINITY;
    // One whose time was up is not used again, though it came to its end.
    if (!this.#pool.includes(dispatcher)) this.#world.processes.lose(dispatcher.process);
  }

  #create(): Dispatcher {
    const { processes, random, faults } = this.#world;
    const process = processes.start('dispatch', random.between(-faults.maxSkewMs, faults.maxSkewMs));
    const created: Dispatcher = { process, isBusy: false, run: this.#runOf(process) };
    process.whenLost = () => {
      this.#pool = this.#pool.filter((other) => other !== created);
    };
    this.#pool.push(created);
    return created;
  }

  #runOf(process: Process): Dispatcher['run'] {
    const { terms, lanes, witness } = this.#world;
    const reach = this.#reach(process);
    const { deliveries, endpoints, queues, log, now } = reach;
    const deal = dispatch(
      { deliveries, endpoints, queues, log, now, attempt: this.#attemptOf(process) },
      { retry: terms.retry, leaseSeconds: clocks.lease },
    );
    const { contexts, remove } = reach.gate('batch', {
      contexts: async (reminders: readonly Reminder[]) => this.#contexts(process, reminders),
      remove: async (lane: Lane, { receiptHandle, reminder }: ReceivedReminder) => {
        await lanes.queues[lane].remove(receiptHandle);
        witness.deleted(process, reminder);
      },
    });
    const run = dispatcher({
      deal: async (reminder, context, lane) => {
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
      contexts,
      queues,
      log,
    });
    return async (lane, messages) => {
      const staying = await run(lane, messages);
      const handles = new Set(staying.map(({ receiptHandle }) => receiptHandle));
      // The mapping's part: what the function does not report as failed is deleted.
      for (const message of messages) if (!handles.has(message.receiptHandle)) await remove(lane, message);
    };
  }

  #contexts(process: Process, reminders: readonly Reminder[]) {
    const { history, random } = this.#world;
    this.#world.reads(process);
    const found = new Map(
      reminders.map(({ orgId, webhookId }) => [
        webhookId,
        history.staleRead(orgId, webhookId, random, this.#world.staleReads),
      ]),
    );
    return ({ webhookId, eventId }: Reminder) => ({
      endpoint: found.get(webhookId),
      event: this.#world.events.get(eventId),
    });
  }

  /** Sends a request: as the webhook sender does, but for the network. */
  #attemptOf(process: Process): DispatchPorts['attempt'] {
    const { processes, receivers, witness, statistics } = this.#world;
    return async (claimed, endpoint, _event, onSlow) => {
      const fate = await processes.stop(process, 'receiver.post');
      const answer = receivers.answer(endpoint.id, !this.#world.isUntroubled);
      if (fate === 'fails' || answer === undefined) throw new Interference('the request could not be made');
      witness.attemptStarts(process, claimed, endpoint.id);
      statistics.count('attempts');
      this.#world.trace?.(
        `${process.name}  posts attempt ${claimed.attempts} of ${claimed.id}: ${JSON.stringify(answer)}`,
      );
      if (answer.status === 204) witness.attempts.accepted(claimed);
      if (fate === 'ends-after' || fate === 'lands-late') return forever();
      if (answer.seconds > SLOW_AFTER_SECONDS) {
        await processes.sleep(process, SLOW_AFTER_SECONDS);
        onSlow();
        await processes.sleep(process, answer.seconds - SLOW_AFTER_SECONDS);
      } else if (answer.seconds > 0) await processes.sleep(process, answer.seconds);
      if (answer.status === undefined) return { error: 'no answer within 10 s' };
      // The receiver took it, and we never hear of that.
      if (fate === 'fails-after') return { error: 'the connection was reset' };
      if (answer.status === 204) return { status: 204 };
      return { status: answer.status, error: `the receiver answered ${answer.status}` };
    };
  }
}
