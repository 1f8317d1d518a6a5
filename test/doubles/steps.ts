import { setImmediate as turn } from 'node:timers/promises';
import type { CallStage, Gate } from './interposed.ts';

/** A call that a worker waits for. */
interface HeldCall {
  worker: number;
  call: string;
  stage: CallStage;
  goOn(): void;
  fail(reason: Error): void;
}

/**
 * Runs workers one step at a time. A step ends where the worker calls a port and again where the port answers, and there it
 * waits for what shall happen: it goes on, the call fails, or the worker crashes and is never heard of again. Between steps nothing
 * runs, so that an order of steps is an interleaving of the workers that can be had again.
 *
 * Who shall go on, fail or crash is named by a number, which picks one of the workers that wait, whatever their number is: the
 * same one each time as long as none begins or ends.
 */
export class Steps {
  #held: HeldCall[] = [];
  #workers = 0;
  readonly #crashed = new Set<number>();
  #defect: { reason: unknown } | undefined;

  /** How many calls wait. */
  get waiting(): number {
    return this.#held.length;
  }

  /**
   * Starts a worker and runs it up to its first call.
   * @param work passes the gate before and after each call; it must deal with failed calls itself
   */
  async start(work: (gate: Gate) => Promise<unknown>): Promise<void> {
    this.#workers += 1;
    const worker = this.#workers;
    const gate: Gate = (call, stage) =>
      new Promise((resolve, reject) => {
        if (!this.#crashed.has(worker)) this.#held.push({ worker, call, stage, goOn: resolve, fail: reject });
      });
    work(gate).catch((reason: unknown) => {
      this.#defect ??= { reason };
    });
    await this.#untilHeld();
  }

  /** Lets a worker go on by one step. */
  async goOn(which: number): Promise<void> {
    this.#take(which)?.goOn();
    await this.#untilHeld();
  }

  /** Makes a worker's call fail: before its effect or after it, where it happens to wait. */
  async fail(which: number): Promise<void> {
    const held = this.#take(which);
    held?.fail(new Error(`${held.call} failed while ${held.stage}`));
    await this.#untilHeld();
  }

  /** Makes a worker stop for ever, with everything that it has under way. */
  async crash(which: number): Promise<void> {
    const worker = this.#take(which)?.worker;
    if (worker === undefined) return;
    this.#crashed.add(worker);
    this.#held = this.#held.filter((held) => held.worker !== worker);
  }

  /** Takes the call that one of the workers has waited for longest. */
  #take(which: number): HeldCall | undefined {
    const waiting = [...new Set(this.#held.map(({ worker }) => worker))].toSorted((a, b) => a - b);
    const worker = waiting[which % waiting.length];
    const index = this.#held.findIndex((held) => held.worker === worker);
    return index === -1 ? undefined : this.#held.splice(index, 1)[0];
  }

  /** Promise reactions are all done when the event loop turns. @throws what a worker threw */
  async #untilHeld(): Promise<void> {
    await turn();
    if (this.#defect) throw this.#defect.reason;
  }
}
