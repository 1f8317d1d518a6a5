import { type Fate, forever, type Process } from './processes.ts';
import { readable } from './readable.ts';
import type { WorldContext } from './world-context.ts';

/** A call failed by an injected fault. */
export class Interference extends Error {
  override name = 'Interference';
}

/** A request as it waits for the scheduler. */
export interface Call {
  process: Process;
  name: string;
  /** Its details for the trace. */
  detail?: unknown;
  effect: () => unknown;
  /** The failure of a call that conflicts with others; undefined for one that cannot. */
  conflict?: () => Error | undefined;
}

type World = Pick<WorldContext, 'processes' | 'random' | 'trace'>;
type Asynchronous = (...parameters: never[]) => Promise<unknown>;

/** Seconds until a late call lands, and until one arrives whose caller waits for it. */
const LATENESS = [0.1, 1, 5, 30];
const TRANSIT = [0.1, 0.5, 2];

/**
 * Each call of a process waits for the scheduler's decision. It takes effect when the scheduler resumes it,
 * so the order of resumption is the order of effects.
 */
export async function pass(
  world: World,
  { process, name, detail, effect, conflict }: Call,
): Promise<unknown> {
  const { processes, random } = world;
  const fate: Fate = await processes.stop(process, name);
  if (fate === 'arrives-late') await processes.sleep(process, random.pick(TRANSIT));
  const conflicted = fate === 'contends' ? conflict?.() : undefined;
  if (conflicted !== undefined || fate.startsWith('fails')) process.isDisturbed = true;
  if (fate === 'fails') throw new Interference(`${name} failed`);
  if (conflicted !== undefined) throw conflicted;
  const run = async (as = name): Promise<unknown> => {
    try {
      const answer = await effect();
      world.trace?.(`${process.name}  ${as}(${readable([detail])}) → ${readable([answer])}`);
      return answer;
    } catch (error) {
      world.trace?.(`${process.name}  ${as}(${readable([detail])}) → ${error}`);
      throw error;
    }
  };
  if (fate === 'lands-late') {
    // No caller is left that could handle the failure.
    const late = () => run(`${name}, late,`);
    processes.later(random.pick(LATENESS), `${name} to land`, late).catch(() => undefined);
    return forever();
  }
  // The SDK repeats a request whose answer was lost.
  if (fate === 'repeats') void run().catch(() => undefined);
  const [answer] = await Promise.allSettled([run()]);
  switch (fate) {
    case 'fails-after':
      throw new Interference(`${name} had no answer`);
    case 'ends-after':
      return forever();
    case 'answers-late':
      await processes.stop(process, `the answer to ${name}`);
  }
  if (answer.status === 'rejected') throw answer.reason;
  return answer.value;
}

/** A port whose calls pass the scheduler, for what is neither a table nor a queue. */
export function gated<T extends object>(world: World, process: Process, name: string, port: T): T {
  const calls = Object.entries(port as Record<string, Asynchronous>).map(([key, effect]) => [
    key,
    (...parameters: never[]) =>
      pass(world, {
        process,
        name: `${name}.${key}`,
        detail: parameters,
        effect: () => effect(...parameters),
      }),
  ]);
  return Object.fromEntries(calls) as T;
}
