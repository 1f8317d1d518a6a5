import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';

/** What the stores take from Node.js themselves: waits between two tries, and their randomness. */
interface Surroundings {
  sleep(ms: number): Promise<unknown>;
  random(): number;
}

/** Runs work in which Node's timers and randomness are those of a world. One work at a time. */
export async function within<T>({ sleep, random }: Surroundings, work: () => Promise<T>): Promise<T> {
  const own = { setTimeout: timers.setTimeout, random: Math.random };
  Object.assign(timers, { setTimeout: sleep });
  Math.random = random;
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    Object.assign(timers, { setTimeout: own.setTimeout });
    Math.random = own.random;
    syncBuiltinESMExports();
  }
}
