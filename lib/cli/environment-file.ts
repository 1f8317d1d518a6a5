import { LocalRunError } from 'aws-local/errors.ts';
import { PRIVATE, readIfPresent, replaceFile } from 'aws-local/files.ts';
import { z } from 'zod';

/**
 * What a shell needs to use the local run. `BASE_URL` is without `/api/v1`; the tokens are ID tokens of an
 * admin and a member of the organization, valid for a day; `SANDBOX_API_KEY` is a key of its sandbox,
 * `SANDBOX_ORG_ID`; `MAILBOX_URL` is where e-mails can be read; the files are absolute paths of PEM files.
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
  // Earlier versions had none.
  MAILBOX_URL: z.string().optional(),
  CA_FILE: z.string(),
  RECEIVER_CERT_FILE: z.string(),
  RECEIVER_KEY_FILE: z.string(),
});
export type LocalEnvironment = z.infer<typeof LocalEnvironment>;

/** The file's text: `export NAME='value'` lines for any POSIX shell. */
export function renderEnvironment(environment: LocalEnvironment): string {
  return Object.entries(LocalEnvironment.parse(environment))
    .flatMap(([name, value]) => (value === undefined ? [] : `export ${name}=${quoteForShell(value)}\n`))
    .join('');
}

/**
 * Reads what {@link renderEnvironment} wrote; other lines are ignored.
 * @returns undefined when a name is missing that every run has written
 */
export function parseEnvironment(text: string): LocalEnvironment | undefined {
  const found = new Map<string, string>();
  for (const [, name = '', quoted = ''] of text.matchAll(/^export (\w+)=((?:'[^']*'|\\')+)$/gm)) {
    found.set(
      name,
      quoted.replaceAll(/'([^']*)'|\\(')/g, (_, plain, quote) => plain ?? quote),
    );
  }
  return LocalEnvironment.safeParse(Object.fromEntries(found)).data;
}

/** @returns undefined when there is no such file, or when the local run did not write it */
export async function readEnvironmentFile(path: string): Promise<LocalEnvironment | undefined> {
  const text = await readIfPresent(path);
  return text === undefined ? undefined : parseEnvironment(text);
}

/**
 * Like {@link readEnvironmentFile} for a program that cannot go on without.
 * @throws LocalRunError when there is none: the local run was never started with this directory
 */
export async function requireEnvironmentFile(path: string): Promise<LocalEnvironment> {
  const environment = await readEnvironmentFile(path);
  if (environment === undefined) {
    throw new LocalRunError(`There is no ${path}: start the local run first (npm start), then try again.`);
  }
  return environment;
}

/** Writes the file for its owner alone: it holds an API key. */
export async function writeEnvironmentFile(path: string, environment: LocalEnvironment): Promise<void> {
  await replaceFile(path, renderEnvironment(environment), PRIVATE);
}

/** A word that every POSIX shell reads back as `text`. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
