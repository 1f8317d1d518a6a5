import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { PRIVATE, readIfPresent, replaceFile } from 'terminal/files.ts';
import { readVariable, type Variables } from 'terminal/local-run/directory.ts';
import { z } from 'zod';
import { CommandError } from '../errors.ts';

/** Keys that `login` stored. */
export interface Credentials {
  /** Base URL of the last login, for commands without one. */
  current: string | undefined;
  /** By base URL. */
  keys: ReadonlyMap<string, string>;
}

const CredentialsFile = z.object({
  version: z.literal(1),
  current: z.optional(z.string()),
  keys: z.record(z.string(), z.string()),
});

const OWNER_ONLY = 0o700;

/** In the user's configuration directory: `XDG_CONFIG_HOME`, `APPDATA` on Windows, else `~/.config`. */
export function credentialsFileOf(variables: Variables): string {
  const directory =
    readVariable(variables, 'XDG_CONFIG_HOME') ??
    readVariable(variables, 'APPDATA') ??
    join(readVariable(variables, 'HOME') ?? homedir(), '.config');
  return join(directory, 'conversations', 'credentials.json');
}

/** @throws CommandError when the file is not one of `login` */
export async function readCredentials(file: string): Promise<Credentials> {
  const text = await readIfPresent(file);
  if (text === undefined) return { current: undefined, keys: new Map() };
  const parsed = CredentialsFile.safeParse(parseJson(text));
  if (!parsed.success)
    throw new CommandError(
      'FAILED',
      `${file} is not a file of conversations login: delete it, and log in again.`,
    );
  const { current, keys } = parsed.data;
  return { current, keys: new Map(Object.entries(keys)) };
}

/** Readable by its owner only. */
export async function writeCredentials(file: string, { current, keys }: Credentials): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: OWNER_ONLY });
  const content = { version: 1, current, keys: Object.fromEntries(keys) };
  await replaceFile(file, `${JSON.stringify(content, null, 2)}\n`, PRIVATE);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
