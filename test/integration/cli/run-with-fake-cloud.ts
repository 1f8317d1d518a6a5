/**
 * The local run on a fake cloud, as a program of its own. Environment variables set the fake's behavior:
 * FAKE_STOP=hangs never finishes stopping, so that only a kill ends it, FAKE_START=hangs never starts, and
 * FAKE_PEOPLE=no has no user pool. It prints the id of a process that stopping has to end.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Cloud, CloudOptions } from 'aws-local/cloud.ts';
import type { Identity } from 'aws-local/identity/identity.ts';
import { exitCodeOf } from 'terminal/program.ts';
import { createScreen } from 'terminal/screen.ts';
import { awaitStopRequest } from 'terminal/stop-request.ts';
import { localRun } from '../../../lib/local-run/start/local-run.ts';
import { startFakeApi } from './fake-api.ts';

const FOR_EVER = 'setInterval(() => undefined, 1000)';
const WITH_ITS_PARENT = 'process.stdin.resume()';
const never = new Promise<never>(() => undefined);

async function startFakeCloud({ caFile, port, releasePort, onLog }: CloudOptions): Promise<Cloud> {
  if (process.env.FAKE_START === 'hangs') return never;
  const ca = () => readFileSync(caFile ?? '', 'utf8');
  await releasePort?.();
  const api = await startFakeApi({ ca, port });
  const engine = spawn(
    process.execPath,
    ['-e', process.env.FAKE_STOP === 'hangs' ? FOR_EVER : WITH_ITS_PARENT],
    {
      stdio: ['pipe', 'ignore', 'ignore'],
    },
  );
  process.stdout.write(`engine ${engine.pid}\n`);
  onLog?.({ source: 'Fake', text: '{"level":"INFO","message":"quiet"}' });
  onLog?.({ source: 'Fake', text: '{"level":"WARN","message":"loud"}' });
  const people: string[] = [];
  const identity: Identity = {
    issuer: 'http://localhost:20000',
    clientId: 'Dashboard',
    setUsers: (users) => void people.push(...users.map(({ email }) => email)),
    idToken: async (email) => `token-of-${people.indexOf(email)}`,
  };
  return {
    ...(process.env.FAKE_PEOPLE === 'no' ? {} : { identity }),
    url: api.url,
    mailboxUrl: `${api.url}/mailbox`,
    outputs: { EnrolFunctionName: 'enrol', ApiUrl: api.url },
    endpoints: { dynamodb: '', sqs: '', secretsManager: '', eventBridge: '', ses: '', lambda: '' },
    invoke: async () => ({ organizationId: 'org_fake', key: { secretOnce: api.key } }),
    roles: [],
    eventSources: [],
    processIds: () => (engine.pid === undefined ? [] : [engine.pid]),
    stop: async () => {
      if (process.env.FAKE_STOP === 'hangs') await never;
      engine.kill('SIGKILL');
      await Promise.all([api.stop(), once(engine, 'exit')]);
    },
  };
}

const stop = awaitStopRequest({ graceMs: 2800 });
const run = () =>
  localRun(
    { fresh: process.argv.includes('--fresh'), verbose: process.argv.includes('--verbose') },
    {
      variables: process.env,
      cwd: process.cwd(),
      screen: createScreen(process.stdout),
      stop,
      synthesize: async ({ context }) => {
        process.stdout.write(`context ${JSON.stringify(context)}\n`);
        return 'made';
      },
      startCloud: startFakeCloud,
      demonstrationTimeoutMs: 30_000,
      now: () => performance.now(),
    },
  );
process.exit(await exitCodeOf(run, { signal: stop.signal, errors: process.stderr }));
