import { spawn } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UserError } from 'terminal/errors.ts';
import { readIfPresent } from 'terminal/files.ts';
import type { StageFile } from '../../infra/settings.ts';
import { fingerprintOf } from './assembly-inputs.ts';
import type { Settings } from './settings.ts';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));
const MAX_OUTPUT = 64 * 1024;

/** The stack's defaults: no tier may exceed a higher one. */
const STANDARD_RATE_LIMITS = { scale: 6000, standard: 600, sandbox: 60 };

/**
 * Deliveries that a redelivery job sends at a time. Two processors take groups and live events in turn:
 * beside groups of two the p99 of live events is up to 1.35 times as long, beside single ones 1.26.
 */
const REDELIVERY_GROUP = 1;

/** Sender of e-mail, which goes to the local run's mailbox. */
export const MAIL_FROM = 'notifications@local.test';

/** CDK context with the settings of a stage that has no file. */
export interface StackContext {
  stage: string;
  settings: StageFile;
}

/**
 * The stack's settings, with those of a single machine; absent ones keep the class's default.
 * @param gateway origin of the API, which is also the dashboard's here
 */
export function contextOf(settings: Settings, gateway: string): StackContext {
  const { retryBaseSeconds, retryCapSeconds, attemptTimeoutSeconds, graceSeconds, lingerSeconds } = settings;
  const { checkEverySeconds, syncCooldownSeconds, noticeSeconds } = settings;
  const retries = { retryBaseSeconds, retryCapSeconds, attemptTimeoutSeconds };
  return {
    stage: 'dev',
    settings: {
      class: 'development',
      // What costs nothing here is as in production.
      lowCost: false,
      redeliveryGroup: REDELIVERY_GROUP,
      ...retries,
      graceSeconds,
      lingerSeconds,
      checkEverySeconds,
      syncCooldownSeconds,
      noticeSeconds,
      rateLimits: createRateLimits(settings),
      dashboard: { origin: gateway },
      mailFrom: MAIL_FROM,
    },
  };
}

/** The local organization has the highest tier, its sandbox the lowest; the middle one is derived. */
function createRateLimits({
  rateLimitPerMinute,
  sandboxRateLimitPerMinute,
}: Settings): StageFile['rateLimits'] {
  if (rateLimitPerMinute === undefined && sandboxRateLimitPerMinute === undefined) return undefined;
  const most = rateLimitPerMinute ?? STANDARD_RATE_LIMITS.scale;
  const sandbox = sandboxRateLimitPerMinute ?? Math.min(STANDARD_RATE_LIMITS.sandbox, most);
  return {
    scale: most,
    standard: Math.min(Math.max(STANDARD_RATE_LIMITS.standard, sandbox), most),
    sandbox,
  };
}

/** Digest of the assembly's inputs. */
export const INPUTS_FILE = 'inputs.sha256';

export interface SynthesisOptions {
  /** Absolute directory of the assembly. */
  assembly: string;
  /** Absolute directory; compiling the CDK takes a second. */
  compileCache: string;
  context: StackContext;
  /** Kills the synthesis. */
  signal: AbortSignal;
}

/**
 * Synthesizes the cloud assembly unless the directory has one of the same inputs.
 * @returns whether the existing one was kept
 * @throws UserError with the CDK app's output when it fails
 */
export async function synthesize(options: SynthesisOptions): Promise<'made' | 'kept'> {
  const inputs = join(options.assembly, INPUTS_FILE);
  const fingerprint = await fingerprintOf(PROJECT, options.context);
  if ((await readIfPresent(inputs)) === fingerprint) return 'kept';
  // A partly replaced assembly must not match any inputs.
  await rm(inputs, { force: true });
  await runApp(options);
  await writeFile(inputs, fingerprint);
  return 'made';
}

async function runApp(options: SynthesisOptions): Promise<void> {
  const app = spawn(process.execPath, ['bin/app.ts'], {
    cwd: PROJECT,
    env: {
      ...process.env,
      CDK_OUTDIR: options.assembly,
      NODE_COMPILE_CACHE: options.compileCache,
      CDK_CONTEXT_JSON: JSON.stringify(options.context),
      // CloudFormation's rules take twice as long as all the rest and change nothing; `npm test` and
      // deployments apply them.
      CDK_VALIDATION: 'false',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: options.signal,
    killSignal: 'SIGKILL',
  });
  let output = '';
  const collect = (chunk: Buffer) => {
    output = `${output}${chunk.toString('utf8')}`.slice(-MAX_OUTPUT);
  };
  app.stdout.on('data', collect);
  app.stderr.on('data', collect);

  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  app.on('error', reject);
  app.on('close', resolve);
  const code = await promise;
  options.signal.throwIfAborted();
  if (code !== 0) throw new UserError(`The stack could not be synthesized:\n\n${output.trim()}`);
}
