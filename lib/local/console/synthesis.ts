import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { LocalRunError } from '../errors.ts';
import type { Settings } from './settings.ts';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));
const MAX_OUTPUT = 64 * 1024;

/** Of the tiers below the local organization's, as the stack has them: no tier may have more than a higher one. */
const STANDARD_RATE_LIMITS = { standard: 600, sandbox: 60 };

/** Values that the CDK app reads from its context. */
export type StackContext = Readonly<Record<string, string | number>>;

/**
 * Settings of the stack, as the CDK app reads them from its context; what is absent keeps the stack's own value.
 * @param gateway origin of the API, which stands for the dashboard's here
 */
export function contextOf(settings: Settings, gateway: string): StackContext {
  const { retryBaseSeconds, retryCapSeconds, attemptTimeoutSeconds, rateLimitPerMinute } = settings;
  const given = Object.entries({ retryBaseSeconds, retryCapSeconds, attemptTimeoutSeconds });
  return {
    ...Object.fromEntries(given.filter((entry): entry is [string, number] => entry[1] !== undefined)),
    ...(rateLimitPerMinute === undefined ? {} : rateLimitsUpTo(rateLimitPerMinute)),
    dashboardOrigin: gateway,
  };
}

/** The local organization has the highest tier. */
const rateLimitsUpTo = (most: number): StackContext => ({
  rateLimitScale: most,
  rateLimitStandard: Math.min(STANDARD_RATE_LIMITS.standard, most),
  rateLimitSandbox: Math.min(STANDARD_RATE_LIMITS.sandbox, most),
});

/**
 * Runs the CDK app, which writes the cloud assembly.
 * @param options.assembly absolute directory
 * @param options.compileCache absolute directory; compiling the CDK anew takes a second of each start
 * @param options.signal kills it
 * @throws LocalRunError with what the app printed, when it fails
 */
export async function synthesize(options: {
  assembly: string;
  compileCache: string;
  context: StackContext;
  signal: AbortSignal;
}): Promise<void> {
  const app = spawn(process.execPath, ['bin/app.ts'], {
    cwd: PROJECT,
    env: {
      ...process.env,
      CDK_OUTDIR: options.assembly,
      NODE_COMPILE_CACHE: options.compileCache,
      CDK_CONTEXT_JSON: JSON.stringify(options.context),
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
