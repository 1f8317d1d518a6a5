import { forever, type Process, type Processes } from './processes.ts';

/** A call failed because the simulation wanted it to. */
export class Interference extends Error {
  override name = 'Interference';
}

type Asynchronous = (...parameters: never[]) => Promise<unknown>;
type Port = Record<string, Asynchronous>;

/** What else there is to do about calls. */
export interface CallTerms {
  /**
   * Whether it does something when it is made twice. Idempotent calls and those with a request token do not.
   */
  repeatable(call: string, parameters: readonly unknown[]): boolean;
  /** What a call gives that met others until it gave up; undefined for calls that meet nobody. */
  contended(call: string, parameters: readonly unknown[]): unknown;
  /** How long a call is under way that lands late, in seconds. */
  lateness(): number;
  /** Is told of each answer. */
  answered(process: Process, call: string, parameters: readonly unknown[], answer: unknown): void;
}

/**
 * A port as a process reaches it: each call waits until the scheduler says what becomes of it. A call takes
 * effect at the moment that it is let on, so that the order in which they are let on is the order of their
 * effects.
 */
export function portsOf(processes: Processes, terms: CallTerms) {
  async function passed(
    process: Process,
    call: string,
    effect: Asynchronous,
    parameters: never[],
  ): Promise<unknown> {
    const fate = await processes.stop(process, call);
    if (fate === 'fails') throw new Interference(`${call} failed`);
    if (fate === 'contends') {
      const answer = terms.contended(call, parameters);
      if (answer !== undefined) return answer;
    }
    if (fate === 'lands-late') {
      const late = async () =>
        terms.answered(process, `${call}, late,`, parameters, await effect(...parameters));
      // Nobody is left to be told that it failed.
      processes.later(terms.lateness(), `${call} to land`, late).catch(() => undefined);
      return forever();
    }
    if (fate === 'repeats' && terms.repeatable(call, parameters)) await effect(...parameters);
    const answer = await effect(...parameters);
    terms.answered(process, call, parameters, answer);
    switch (fate) {
      case 'fails-after':
        throw new Interference(`${call} had no answer`);
      case 'ends-after':
        return forever();
      case 'answers-late':
        await processes.stop(process, `the answer to ${call}`);
    }
    return answer;
  }

  return <T extends object>(process: Process, name: string, port: T): T => {
    const gated: Port = {};
    for (const [key, effect] of Object.entries(port as Port)) {
      const call = `${name}.${key}`;
      gated[key] = (...parameters) => passed(process, call, effect, parameters);
    }
    return gated as T;
  };
}
