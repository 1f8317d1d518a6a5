import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { OperateError } from './errors.ts';
import type { Flags } from './flags.ts';
import { outputsOf, type Resources, resourcesOf } from './outputs.ts';

/** The deployment, or local run, that is operated. */
export interface Place extends Resources {
  /** Display name. */
  name: string;
  region: string;
  /** Of all stacks, by key. */
  outputs: Readonly<Record<string, string>>;
  /** Engines of a local run; undefined on AWS. */
  endpoints?: {
    dynamodb: string;
    sqs: string;
    secretsManager: string;
    lambda: string;
    sns?: string | undefined;
  };
}

/** The local run's file for operators. */
const LocalOutputs = z.object({
  region: z.string(),
  endpoints: z.object({
    dynamodb: z.string(),
    sqs: z.string(),
    secretsManager: z.string(),
    lambda: z.string(),
    sns: z.string().optional(),
  }),
  outputs: z.record(z.string(), z.string()),
});

/** In the directory of the local run. */
const LOCAL_OUTPUTS = 'outputs.json';

/** Environment variables, as in `process.env`. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Returns the output of `aws cloudformation describe-stacks`. */
export type DescribeStacks = (region: string | undefined) => Promise<string>;

/** @throws OperateError naming what is missing */
export async function placeOf(
  flags: Pick<Flags, 'local' | 'stage' | 'outputs' | 'region'>,
  variables: Variables,
  describeStacks: DescribeStacks = byCommandLine,
): Promise<Place> {
  if (flags.local) return localPlace(variables.LOCAL_DIR ?? '.local');
  const { stage } = flags;
  if (stage === undefined)
    throw new OperateError(
      'Which deployment? Say --stage prod (or another one), or --local for the local run.',
    );
  const given = flags.region ?? variables.AWS_REGION ?? variables.AWS_DEFAULT_REGION;
  const outputs =
    flags.outputs === undefined
      ? outputsOf(await describeStacks(given), stage, 'CloudFormation')
      : outputsOf(await readContent(flags.outputs), stage, flags.outputs);
  const resources = resourcesOf(outputs);
  const region = given ?? regionIn(resources);
  if (region === undefined) throw new OperateError('Which region? Say --region or set AWS_REGION.');
  return { name: `stage ${stage}, ${region}`, region, outputs, ...resources };
}

async function localPlace(directory: string): Promise<Place> {
  const file = join(directory, LOCAL_OUTPUTS);
  const text = await readFile(file, 'utf8').catch(() => undefined);
  const local = text === undefined ? undefined : LocalOutputs.safeParse(JSON.parse(text)).data;
  if (local === undefined)
    throw new OperateError(`There is no ${file}: start the local run first (npm start), then try again.`);
  const { region, endpoints, outputs } = local;
  return { name: `local run in ${directory}`, region, outputs, endpoints, ...resourcesOf(outputs) };
}

async function readContent(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new OperateError(`${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

/** Queue URLs contain the region. */
const regionIn = ({ queues }: Resources): string | undefined =>
  [...queues.values()].map((url) => /^https:\/\/sqs\.([\w-]+)\./.exec(url)?.[1])[0];

/** Large enough for the stacks of an account. */
const MAX_OUTPUT = 64 * 1024 * 1024;

async function byCommandLine(region: string | undefined): Promise<string> {
  const args = ['cloudformation', 'describe-stacks', '--output', 'json'];
  try {
    const { stdout } = await promisify(execFile)('aws', [...args, ...(region ? ['--region', region] : [])], {
      maxBuffer: MAX_OUTPUT,
    });
    return stdout;
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new OperateError(
      `The stacks could not be found with "aws ${args.join(' ')}"${said === '' ? '' : `:\n\n  ${said}\n`}\nGive --outputs FILE, as "cdk deploy --outputs-file" writes it, or install the AWS command line.`,
    );
  }
}
