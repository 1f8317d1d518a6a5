import { environmentFileIn, readDirectory } from 'terminal/local-run/directory.ts';
import { readEnvironmentFile } from 'terminal/local-run/environment-file.ts';
import { type Client, createClient } from '../../../sdk/src/index.ts';
import type { Context } from '../context.ts';
import {
  type Connection,
  type ConnectionFlags,
  type ConnectionSources,
  chooseConnection,
} from './connection.ts';
import { credentialsFileOf, readCredentials } from './credentials.ts';

/** A client, and the URL of its API. */
export interface Api {
  client: Client;
  baseUrl: string;
}

/** Reads where a connection can come from. @throws CommandError for an unreadable file of `login` */
export async function readSources({
  variables,
  cwd,
}: Pick<Context, 'variables' | 'cwd'>): Promise<ConnectionSources> {
  const file = environmentFileIn(readDirectory(variables, cwd).directory);
  return {
    variables,
    local: await readEnvironmentFile(file),
    credentials: await readCredentials(credentialsFileOf(variables)),
  };
}

/** A client for the chosen API and key. @throws CommandError without one */
export async function connect(flags: ConnectionFlags, context: Context): Promise<Connection & Api> {
  const connection = chooseConnection(flags, await readSources(context));
  return { ...connection, client: clientFor(connection, context) };
}

export const clientFor = (
  { baseUrl, key }: Pick<Connection, 'baseUrl' | 'key'>,
  { stderr }: Pick<Context, 'stderr'>,
): Client =>
  createClient({
    baseUrl,
    apiKey: key,
    onDeprecation: ({ operation, sunset }) =>
      stderr.write(
        `The operation ${operation} is deprecated${sunset ? `, and works until ${sunset}` : ''}.\n`,
      ),
  });
