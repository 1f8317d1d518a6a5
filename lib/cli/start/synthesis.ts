import { spawn } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LocalRunError } from 'aws-local/errors.ts';
import { readIfPresent } from 'aws-local/files.ts';
import { fingerprintOf } from './assembly-inputs.ts';
import type { Settings } from './settings.ts';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));
const MAX_OUTPUT = 64 * 1024;

/** As the stack has them: no tier may have more than a higher one. */
const STANDARD_RATE_LIMITS = { scale: 6000, standard: 600, sandbox: 60 };

/** Sender of the e-mails, which go to the mailbox of the local run. */
export const MAIL_FROM = 'notifications@local.test';

/** Values that the CDK app reads from its context. */
export type StackContext = Readonly<Record<string, string | number>>;

/**
 * Settings of the stack, as the CDK app reads them from its context; what is absent keeps the stack's own
 * value.
 * @param gateway origin of the API, which stands for the dashboard's here
 */
export function contextOf(settings: Settings, gateway: string): StackContext {
  const { retryBaseSeconds, retryCapSeconds, attemptTimeoutSeconds, graceSeconds, lingerSeconds } = settings;
  const { checkEverySeconds, syncCooldownSeconds, noticeSeconds } = settings;
  const retries = { retryBaseSeconds, retryCapSeconds, attemptTimeoutSeconds };
  const given = Object.entries({
    ...retries,
    graceSeconds,
    lingerSeconds,
    checkEverySeconds,
    syncCooldownSeconds,
    noticeSeconds,
  });
  return {
    stage: 'dev',
    ...Object.fromEntries(given.filter((entry): entry is [string, number] => entry[1] !== undefined)),
    ...rateLimitsOf(settings),
    dashboardOrigin: gateway,
    mailFrom: MAIL_FROM,
  };
}

/** The local organization has the highest tier, its sandbox the lowest; the one between follows. */
function rateLimitsOf({ rateLimitPerMinute, sandboxRateLimitPerMinute }: Settings): StackContext {
  if (rateLimitPerMinute === undefined && sandboxRateLimitPerMinute === undefined) return {};
  const most = rateLimitPerMinute ?? STANDARD_RATE_LIMITS.scale;
  const sandbox = sandboxRateLimitPerMinute ?? Math.min(STANDARD_RATE_LIMITS.sandbox, most);
  return {
    rateLimitScale: most,
    rateLimitStandard: Math.min(Math.max(STANDARD_RATE_LIMITS.standard, sandbox), most),
    rateLimitSandbox: sandbox,
  };
}

/** Beside the assembly: what it was made of. */
export const INPUTS_FILE = 'inputs.sha256';

/** What a synthesis is given. */
export interface SynthesisOptions {
  /** Absolute directory of the assembly. */
  assembly: string;
  /** Absolute directory; compiling the CDK anew takes a second. */
  compileCache: string;
  context: StackContext;
  /** Kills it. */
  signal: AbortSignal;
}

/**
 * Sees to it that the directory holds the cloud assembly of the sources as they are: the one that is there,
 * when it was made of the same, else a new one.
 * @returns whether the one that is there was kept
 * @throws LocalRunError with what the CDK app printed, when it fails
 */
export async function synthesize(options: SynthesisOptions): Promise<'made' | 'kept'> {
  const inputs = join(options.assembly, INPUTS_FILE);
  const fingerprint = await fingerprintOf(PROJECT, options.context);
  if ((await readIfPresent(inputs)) === fingerprint) return 'kept';
  // An assembly that is only half new must not be taken for either.
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
      // CloudFormation's rules take twice as long as all the rest, and change nothing; `npm test` and a
      // deployment apply them.
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
  if (code !== 0) throw new LocalRunError(`The stack could not be synthesized:\n\n${output.trim()}`);
}
