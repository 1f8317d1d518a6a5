import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { UserError } from 'terminal/errors.ts';
import { PRIVATE, readIfPresent, replaceFile } from 'terminal/files.ts';
import { type RunLock, takeLock } from 'terminal/local-run/run-lock.ts';
import { z } from 'zod';
import type { Position } from './position.ts';

/** State to resume forwarding. */
export interface State {
  /** Last poll of the endpoints by the service's clock; epoch milliseconds. */
  lookedAt: number | undefined;
  /** By endpoint. */
  positions: Map<string, Position>;
}

const OwnedFile = z.object({
  version: z.literal(1),
  lookedAt: z.optional(z.number()),
  endpoints: z.record(z.string(), z.object({ floor: z.string(), forwarded: z.array(z.string()) })),
});

/** A state file, locked for this program until released. */
export interface StateFile {
  state: State;
  save(state: State): Promise<void>;
  release(): void;
}

const DIRECTORY = 'forward';
const NOTHING: State = { lookedAt: undefined, positions: new Map() };

/**
 * Default state file: one per API, key and target, named by a digest that reveals none of them.
 * @param directory of the local run
 */
export function stateFileIn(
  directory: string,
  { baseUrl, key, to }: { baseUrl: string; key: string; to: URL },
): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([baseUrl, key, to.href]))
    .digest('hex');
  return join(directory, DIRECTORY, `${digest.slice(0, 32)}.json`);
}

/**
 * @param shown name in messages
 * @param fresh ignores the content, which is replaced on the first save
 * @throws UserError when it is another kind of file, or another program uses it
 */
export async function openStateFile(path: string, shown: string, fresh: boolean): Promise<StateFile> {
  const lock = await lockBeside(path, shown);
  try {
    const text = await readIfPresent(path);
    const saved = text === undefined ? NOTHING : parseState(text);
    if (saved === undefined) {
      throw new UserError(`${shown} is not a position of forward: choose another file with --state.`);
    }
    const { lookedAt, positions } = fresh ? NOTHING : saved;
    return {
      state: { lookedAt, positions: new Map(positions) },
      save: (changed) => replaceFile(path, renderState(changed), PRIVATE),
      release: () => lock.release(),
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function lockBeside(path: string, shown: string): Promise<RunLock> {
  const lock = await (async () => {
    await mkdir(dirname(path), { recursive: true });
    return takeLock(`${path}.lock`);
  })().catch((error: unknown) => {
    throw new UserError(`${shown} cannot be used: ${error instanceof Error ? error.message : error}`);
  });
  if (lock !== undefined) return lock;
  throw new UserError(`Another forward uses ${shown}: stop it, or choose another file with --state.`);
}

export function renderState({ lookedAt, positions }: State): string {
  const endpoints = [...positions].map(([id, { floor, forwarded }]) => [
    id,
    { floor, forwarded: [...forwarded] },
  ]);
  return `${JSON.stringify({ version: 1, lookedAt, endpoints: Object.fromEntries(endpoints) })}\n`;
}

/** @returns undefined when this command did not write it */
export function parseState(text: string): State | undefined {
  const parsed = OwnedFile.safeParse(parseJson(text));
  if (!parsed.success) return undefined;
  const { lookedAt, endpoints } = parsed.data;
  const positions = Object.entries(endpoints).map(([id, { floor, forwarded }]): [string, Position] => [
    id,
    { floor, forwarded: new Set(forwarded) },
  ]);
  return { lookedAt, positions: new Map(positions) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
