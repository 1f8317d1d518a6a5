import { commandLine } from '../terminal/command-line.ts';
import { exitCodeOf } from '../terminal/program.ts';
import { createScreen } from '../terminal/screen.ts';
import { awaitStopRequest } from '../terminal/stop-request.ts';
import { localRun } from './local-run.ts';
import { synthesize } from './synthesis.ts';

/** Stopping may take three seconds in all. */
const GRACE_MS = 2800;

/** A first delivery starts four functions cold, on a slow machine one after another. */
const DEMONSTRATION_TIMEOUT_MS = 30_000;

const ENVIRONMENT = `
Environment:
  PORT                           of the API (3000; 0 takes any free one)
  LOCAL_DIR                      where state, certificates and logs are kept (.local)
  RETRY_BASE_SECONDS             first retry delay, fractions allowed (30)
  RETRY_CAP_SECONDS              longest retry delay, fractions allowed (3600)
  ATTEMPT_TIMEOUT_SECONDS        time limit of a receiver, fractions allowed (10)
  GRACE_SECONDS                  how late a delivery may be before its message counts as lost (900)
  LINGER_SECONDS                 seconds after a sandbox reset before its old data is deleted (120)
  CHECK_EVERY_SECONDS            from one check of a source's content to the next (3600)
  NOTICE_SECONDS                 least time between two e-mails about a source's content (86400)
  RATE_LIMIT_PER_MINUTE          API calls of the organization in a minute (6000)
  SANDBOX_RATE_LIMIT_PER_MINUTE  API calls with keys of its sandbox (60)
  DYNAMODB_ENDPOINT              another DynamoDB than the embedded one
  SQS_ENDPOINT                   another SQS than the embedded one
  DYNOXIDE_BIN                   executable of the embedded DynamoDB, where npm has none for the machine`;

/**
 * Runs `npm start`.
 * @returns the exit code
 */
export async function startCommand(args: readonly string[]): Promise<number> {
  const { fresh = false, verbose = false } = commandLine(
    'npm start --',
    'Runs the service on this machine: synthesizes the CDK stack and runs its template.',
  )
    .option('--fresh', 'begin anew: delete what earlier runs left in LOCAL_DIR')
    .option('--verbose', 'show everything that the functions log')
    .addHelpText('after', ENVIRONMENT)
    .parse(args, { from: 'user' })
    .opts();
  const stop = awaitStopRequest({ graceMs: GRACE_MS });
  const program = () =>
    localRun(
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
  return exitCodeOf(program, { signal: stop.signal, errors: process.stderr });
}
