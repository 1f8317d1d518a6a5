import { isApiError } from '../../../sdk/src/index.ts';
import { readSecret } from '../ask.ts';
import { clientFor, readSources } from '../connection/connect.ts';
import { chooseBaseUrl, environmentOf } from '../connection/connection.ts';
import { credentialsFileOf, writeCredentials } from '../connection/credentials.ts';
import type { Context } from '../context.ts';
import { CommandError } from '../errors.ts';
import { parseBaseUrlFlag, subcommand } from '../flags.ts';
import { runCommand } from '../run.ts';

export const loginCommand = () =>
  subcommand('login', 'Stores an API key for the API at a base URL, readable by you only.', [
    'login --base-url https://api.example.com',
    'login --base-url https://api.example.com < key.txt',
  ])
    .option(
      '--base-url <url>',
      'URL of the API (CONVERSATIONS_BASE_URL, the local run, the last login)',
      parseBaseUrlFlag,
    )
    .option('--json', 'print JSON; errors too')
    .addHelpText(
      'after',
      '\nThe key is asked for, or read from a pipe. An admin creates keys on the dashboard.',
    );

export const logoutCommand = () =>
  subcommand('logout', 'Deletes the stored key of a base URL. The key stays valid until it is revoked.', [
    'logout',
    'logout --all',
  ])
    .option('--base-url <url>', 'URL of the API (that of the last login)', parseBaseUrlFlag)
    .option('--all', 'delete all stored keys')
    .option('--json', 'print JSON; errors too');

type LoginFlags = ReturnType<ReturnType<typeof loginCommand>['opts']>;
type LogoutFlags = ReturnType<ReturnType<typeof logoutCommand>['opts']>;

export const runLogin = (flags: LoginFlags, context: Context): Promise<number> =>
  runCommand(flags, context, async (printer) => {
    const sources = await readSources(context);
    const baseUrl = chooseBaseUrl(flags, sources);
    const key = await readSecret(`API key for ${baseUrl}: `, context);
    const environment = environmentOf(key);
    if (environment === undefined)
      throw new CommandError('NO_KEY', 'That is not an API key: ck_live_… or ck_sandbox_….');
    await requireAccepted(baseUrl, key, context);
    const file = credentialsFileOf(context.variables);
    const keys = new Map(sources.credentials.keys).set(baseUrl, key);
    await writeCredentials(file, { current: baseUrl, keys });
    printer.result(
      { baseUrl, environment, file },
      () => `Logged in to ${baseUrl} (${environment}). The key is in ${file}.`,
    );
  });

/** @throws ApiError for a key that is not valid */
async function requireAccepted(baseUrl: string, apiKey: string, context: Context): Promise<void> {
  try {
    await clientFor({ baseUrl, key: apiKey }, context).endpoints.list({ limit: 1 }, context).page();
  } catch (error) {
    // A valid key may lack the scope to read endpoints.
    if (!isApiError(error, 'PERMISSION_DENIED')) throw error;
  }
}

export const runLogout = (flags: LogoutFlags, context: Context): Promise<number> =>
  runCommand(flags, context, async (printer) => {
    const { credentials } = await readSources(context);
    const baseUrl = flags.baseUrl ?? credentials.current;
    const deleted = [...credentials.keys.keys()].filter((each) => flags.all || each === baseUrl);
    const keys = new Map([...credentials.keys].filter(([each]) => !deleted.includes(each)));
    const { current } = credentials;
    if (deleted.length > 0) {
      const file = credentialsFileOf(context.variables);
      await writeCredentials(file, {
        current: current !== undefined && keys.has(current) ? current : undefined,
        keys,
      });
    }
    printer.result({ deleted }, () =>
      deleted.length === 0 ? 'There is no stored key.' : `Deleted the keys for ${deleted.join(', ')}.`,
    );
  });
