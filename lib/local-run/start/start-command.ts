import { dynoxideBinary } from 'aws-local/engines/dynoxide.ts';
import { commandLine } from 'terminal/command-line.ts';
import { exitCodeOf } from 'terminal/program.ts';
import { createScreen } from 'terminal/screen.ts';
import { awaitStopRequest } from 'terminal/stop-request.ts';
import { localRun } from './local-run.ts';
import { synthesize } from './synthesis.ts';

/** Stopping may take three seconds in all. */
const GRACE_MS = 2800;

/** A first delivery starts four functions cold, on a slow machine one after another. */
const DEMONSTRATION_TIMEOUT_MS = 30_000;

const ENVIRONMENT = `
Environment:
  PORT                           port of the API; 0 takes any free one, and the same at the next start (3000)
  LOCAL_DIR                      directory of state, certificates and logs (.local)
  RETRY_BASE_SECONDS             wait before the second attempt; each further wait doubles (30)
  RETRY_CAP_SECONDS              longest wait between attempts (3600)
  ATTEMPT_TIMEOUT_SECONDS        deadline of an attempt (10)
  GRACE_SECONDS                  seconds past due after which the reconciler sends a message again (900)
  CHECK_EVERY_SECONDS            seconds between two checks of a knowledge source (3600)
  SYNC_COOLDOWN_SECONDS          seconds after a sync of a source in which another one is refused (60)
  NOTICE_SECONDS                 seconds in which admins get at most one e-mail about a source (86400)
  LINGER_SECONDS                 seconds after a sandbox reset before the purge deletes data (120)
  RATE_LIMIT_PER_MINUTE          API requests per minute of the local organization (6000)
  SANDBOX_RATE_LIMIT_PER_MINUTE  API requests per minute of its sandbox (60)
  DYNAMODB_ENDPOINT              URL of another DynamoDB engine
  SQS_ENDPOINT                   URL of another SQS engine
  DYNOXIDE_BIN                   path of another binary of the embedded DynamoDB engine

Seconds may have a fraction. More: docs/reference/configuration.md`;

/**
 * Runs `npm start`.
 * @returns the exit code
 */
export async function startCommand(args: readonly string[]): Promise<number> {
  const { fresh = false, verbose = false } = commandLine(
    'npm start --',
    'Runs the service on this machine: synthesizes the CDK stack and runs its template.',
  )
    .option('--fresh', 'start with new data: delete what earlier runs left in LOCAL_DIR')
    .option('--verbose', "print the functions' logs")
    .addHelpText('after', ENVIRONMENT)
    .parse(args, { from: 'user' })
    .opts();
  const stop = awaitStopRequest({ graceMs: GRACE_MS });
  const program = async () => {
    // Before a synthesis, which takes much longer.
    if (!process.env.DYNAMODB_ENDPOINT) dynoxideBinary();
    await localRun(
      { fresh, verbose },
      {
        variables: process.env,
        cwd: process.cwd(),
        screen: createScreen(process.stdout),
        stop,
        // Loads in parallel: the AWS SDK, the engines and the identity provider take half a second or more,
        // which neither --help nor a wrong setting should wait for.
        synthesize: async (options) => {
          const loading = [import('aws-local/cloud.ts'), import('aws-local/identity/provider.ts')];
          const [result] = await Promise.all([synthesize(options), ...loading]);
          return result;
        },
        startCloud: async (options) => (await import('aws-local/cloud.ts')).startCloud(options),
        demonstrationTimeoutMs: DEMONSTRATION_TIMEOUT_MS,
        now: () => performance.now(),
      },
    );
  };
  return exitCodeOf(program, { signal: stop.signal, errors: process.stderr });
}
