import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const DIRECTORY = join(import.meta.dirname, '../stages');

/**
 * At most 20 characters: a function's name has 64. Amazon Cognito excludes some words from the domain of the
 * sign-in pages, which contains the name.
 */
const NAME = /^(?!.*(aws|amazon|cognito))[a-z]([a-z0-9-]{0,18}[a-z0-9])?$/;

/** A wrong setting. The message has a line for each. */
export class SettingError extends Error {
  override name = 'SettingError';
}

/** A stage with the content of its file. */
export interface GivenStage {
  name: string;
  content: unknown;
}

/** Names of the stages that have a file. */
export const listStages = (): string[] =>
  readdirSync(DIRECTORY).flatMap((file) => (file.endsWith('.ts') ? [file.slice(0, -3)] : []));

/**
 * Reads the stages that the CDK command names (`-c stage=prod`, or several: `-c stage=staging,prod`).
 * Development is the default, so that `npx cdk synth` works alone.
 * @param environment of the process, parsed without the CDK
 * @throws SettingError for an unknown stage, and for settings in the command
 */
export async function readStages(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<GivenStage[]> {
  const { stage, settings, ...others } = readContext(environment);
  const names = String(stage || 'dev').split(',');
  // The context of the CDK itself has a punctuation mark in its names.
  const setting = Object.keys(others).find((name) => /^\w+$/.test(name));
  if (setting !== undefined)
    throw new SettingError(`-c ${setting}: settings are in lib/stages/${names[0]}.ts, not in the command.`);
  // The local run and tests have no files of their own.
  return Promise.all(
    names.map(async (name) => ({ name, content: settings ?? (await readStageFile(name, listStages())) })),
  );
}

/** Values that do not fit into a variable are in a file. */
function readContext({
  CDK_CONTEXT_JSON: given,
  CONTEXT_OVERFLOW_LOCATION_ENV: file,
}: Readonly<Record<string, string | undefined>>): Record<string, unknown> {
  return {
    ...(given && JSON.parse(given)),
    ...(file && JSON.parse(readFileSync(file, 'utf8'))),
  };
}

async function readStageFile(name: string, stages: readonly string[]): Promise<unknown> {
  if (!stages.includes(name))
    throw new SettingError(`-c stage=${name}: there is no lib/stages/${name}.ts, only ${stages.join(', ')}.`);
  checkName(name, stages);
  return (await import(join(DIRECTORY, `${name}.ts`))).default;
}

/** @throws SettingError for a name that does not fit, or that is the beginning of another stage's names */
export function checkName(name: string, stages: readonly string[]): void {
  if (!NAME.test(name))
    throw new SettingError(
      `lib/stages/${name}.ts: the name of a stage must have at most 20 lower-case letters, digits and hyphens, begin with a letter, and be without aws, amazon and cognito.`,
    );
  const other = stages.find((stage) => stage.startsWith(`${name}-`) || name.startsWith(`${stage}-`));
  if (other !== undefined)
    throw new SettingError(
      `lib/stages/${name}.ts: what a stage has is found by its name and a hyphen, so no name may be another (${other}) with a hyphen after it.`,
    );
}
