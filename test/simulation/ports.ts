import { forever, type Process, type Processes } from './processes.ts';

/** A call failed by an injected fault. */
export class Interference extends Error {
  override name = 'Interference';
}

type Asynchronous = (...parameters: never[]) => Promise<unknown>;
type Port = Record<string, Asynchronous>;

/** Options of the calls of a port. */
export interface CallTerms {
  /**
   * Whether a repeated call has an effect of its own. Idempotent calls and those with a request token do not.
   */
  repeatable(call: string, parameters: readonly unknown[]): boolean;
  /** The result of a call that conflicted until it gave up; undefined for calls that cannot conflict. */
  contended(call: string, parameters: readonly unknown[]): unknown;
  /** Seconds until a late call lands. */
  lateness(): number;
  /** Called with each answer. */
  answered(process: Process, call: string, parameters: readonly unknown[], answer: unknown): void;
}

/**
 * A port as a process uses it: each call waits for the scheduler's decision. It takes effect when the
 * scheduler resumes it, so the order of resumption is the order of effects.
 */
export function portsOf(processes: Processes, terms: CallTerms) {
  async function passCall(
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
      // No caller is left that could handle the failure.
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
      gated[key] = (...parameters) => passCall(process, call, effect, parameters);
    }
    return gated as T;
  };
}
