import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';

/** What the stores take from Node.js themselves: waits between two tries, and their randomness. */
interface Surroundings {
  sleep(ms: number): Promise<unknown>;
  random(): number;
}

/** Runs work in which Node's timers and randomness are those of a world. One work at a time. */
export const within = <T>({ sleep, random }: Surroundings, work: () => Promise<T>): Promise<T> =>
  replacing([...waitsAndChance({ sleep, random })], work);

/** Runs work that takes also the time, deadlines, identifiers and tokens from a world. */
export const whollyWithin = <T>(
  { now, ...others }: Surroundings & { now(): Date },
  work: () => Promise<T>,
): Promise<T> => replacing([...waitsAndChance(others), ...timeAndTokens({ now, ...others })], work);

type Replacement = [of: object, parts: object];

const waitsAndChance = ({ sleep, random }: Surroundings): Replacement[] => [
  [timers, { setTimeout: sleep }],
  [Math, { random }],
];

function timeAndTokens({ now, sleep, random }: Surroundings & { now(): Date }): Replacement[] {
  const fill = <B extends Uint8Array>(bytes: B): B => bytes.map(() => random() * 256) as B;
  const randomBytes = (size: number) => fill(Buffer.alloc(size));
  const randomUUID = () =>
    randomBytes(16)
      .toString('hex')
      .replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');
  const getRandomValues = <B extends Uint8Array>(bytes: B): B => {
    bytes.set(fill(bytes));
    return bytes;
  };
  const Time = new Proxy(Date, {
    construct: (date, parts) => (parts.length === 0 ? now() : Reflect.construct(date, parts)),
  });
  return [
    [crypto, { randomBytes, randomUUID }],
    [globalThis.crypto, { getRandomValues, randomUUID }],
    [Date, { now: () => now().getTime() }],
    [globalThis, { Date: Time, setTimeout: (deed: () => void, ms: number) => void sleep(ms).then(deed) }],
  ];
}

async function replacing<T>(replacements: readonly Replacement[], work: () => Promise<T>): Promise<T> {
  const own = replacements.map(([of, parts]): Replacement => {
    const names = Object.keys(parts);
    return [of, Object.fromEntries(names.map((name) => [name, Reflect.get(of, name)]))];
  });
  const install = (all: readonly Replacement[]) => {
    for (const [of, parts] of all) Object.assign(of, parts);
    syncBuiltinESMExports();
  };
  install(replacements);
  try {
    return await work();
  } finally {
    install(own);
  }
}
