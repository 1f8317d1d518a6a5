import { z } from 'zod';
import { UserError } from '../errors.ts';
import { PRIVATE, readIfPresent, replaceFile } from '../files.ts';

/**
 * Shell variables of the local run. `BASE_URL` is without `/api/v1`; the tokens are ID tokens of an admin and
 * a member, valid for a day; `SANDBOX_API_KEY` belongs to the sandbox `SANDBOX_ORG_ID`; `MAILBOX_URL` shows
 * sent e-mail; files are absolute paths of PEM files.
 */
const LocalEnvironment = z.object({
  BASE_URL: z.string(),
  API_KEY: z.string(),
  ORG_ID: z.string(),
  // Absent without a user pool, and in files of earlier versions.
  ADMIN_TOKEN: z.string().optional(),
  MEMBER_TOKEN: z.string().optional(),
  OIDC_ISSUER: z.string().optional(),
  OIDC_CLIENT_ID: z.string().optional(),
  // Provisioned by the admin.
  SANDBOX_API_KEY: z.string().optional(),
  SANDBOX_ORG_ID: z.string().optional(),
  // Absent in files of earlier versions.
  MAILBOX_URL: z.string().optional(),
  CA_FILE: z.string(),
  RECEIVER_CERT_FILE: z.string(),
  RECEIVER_KEY_FILE: z.string(),
});
export type LocalEnvironment = z.infer<typeof LocalEnvironment>;

/** Renders `export NAME='value'` lines for any POSIX shell. */
export function renderEnvironment(environment: LocalEnvironment): string {
  return Object.entries(LocalEnvironment.parse(environment))
    .flatMap(([name, value]) => (value === undefined ? [] : `export ${name}=${quoteForShell(value)}\n`))
    .join('');
}

/**
 * Parses the output of {@link renderEnvironment} and ignores other lines.
 * @returns undefined when a required name is missing
 */
export function parseEnvironment(text: string): LocalEnvironment | undefined {
  const variables = new Map<string, string>();
  for (const [, name = '', quoted = ''] of text.matchAll(/^export (\w+)=((?:'[^']*'|\\')+)$/gm)) {
    variables.set(
      name,
      quoted.replaceAll(/'([^']*)'|\\(')/g, (_, plain, quote) => plain ?? quote),
    );
  }
  return LocalEnvironment.safeParse(Object.fromEntries(variables)).data;
}

/** @returns undefined when there is no such file, or it is not the local run's */
export async function readEnvironmentFile(path: string): Promise<LocalEnvironment | undefined> {
  const text = await readIfPresent(path);
  return text === undefined ? undefined : parseEnvironment(text);
}

/**
 * As {@link readEnvironmentFile}, for programs that require it.
 * @throws UserError when the local run was never started with this directory
 */
export async function requireEnvironmentFile(path: string): Promise<LocalEnvironment> {
  const environment = await readEnvironmentFile(path);
  if (environment === undefined) {
    throw new UserError(`There is no ${path}: start the local run first (npm start), then try again.`);
  }
  return environment;
}

/** Readable only by its owner: it contains an API key. */
export async function writeEnvironmentFile(path: string, environment: LocalEnvironment): Promise<void> {
  await replaceFile(path, renderEnvironment(environment), PRIVATE);
}

/** Quotes `text` as a word for any POSIX shell. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
