import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startDynamoDb } from 'aws-local/engines/dynamodb.ts';
import { SecretVersions, versionOf } from 'aws-local/engines/secret-versions.ts';
import { startSqs } from 'aws-local/engines/sqs.ts';
import type { Keyring } from '../../functions/aws/keyrings.ts';
import { customer } from './recording/customer.ts';
import { FIXTURES, type Fixture, written } from './recording/fixture.ts';
import { startVersion } from './recording/local-run.ts';
import { recordingQueues, type SentMessage } from './recording/proxy.ts';
import { startReceiver } from './recording/receiver.ts';
import { rowsIn } from './recording/rows.ts';
import { checkedOut, commitOf } from './worktree.ts';

const HELP = `Records what a version of the code stores, as fixtures for those that come after it: node test/compatibility/record.ts <name> [<commit>]

Starts the local run of the commit (HEAD), calls its public API, kills it, and writes to test/compatibility/fixtures/<name> every row of
every table, the messages that it sent to queues, and the cursors and tokens that it gave out. Do this for each release, and never change
what was recorded: it is what that version has left in tables. It takes about two minutes.
`;

/** The states to record, each in a local run of its own. */
const SCENES = {
  /** Every wait is so long that the delivery is parked in the table. */
  parked: { settings: { RETRY_BASE_SECONDS: '1000', RETRY_CAP_SECONDS: '43200' }, seconds: 4 },
  /** Delays in queues, ends of all kinds, and a disabled endpoint. */
  ended: { settings: { RETRY_BASE_SECONDS: '0.2', RETRY_CAP_SECONDS: '3600' }, seconds: 45 },
} as const;
type Scene = keyof typeof SCENES;

/** A reset leaves rows to purge. */
const COMMON = { LINGER_SECONDS: '3600', SANDBOX_RATE_LIMIT_PER_MINUTE: '6000' };

/** Maximum of messages of each kind. */
const MOST_MESSAGES = 3;

const say = (text: string) => process.stdout.write(`  ${text}\n`);

function some(messages: readonly SentMessage[]): SentMessage[] {
  const byKind = Map.groupBy(messages, ({ queue, body }) => {
    const { 'detail-type': type = '', ...fields } = JSON.parse(body) as Record<string, unknown>;
    return [queue, type, ...Object.keys(fields).toSorted()].join();
  });
  return [...byKind.values()].flatMap((kind) => kind.slice(0, MOST_MESSAGES));
}

/** The keyring of cursors among the secrets of a local run. */
function cursorKeysIn(directory: string): Keyring {
  const secrets: Record<string, unknown> = JSON.parse(
    readFileSync(join(directory, 'state/secrets.json'), 'utf8'),
  );
  const sealed = Object.entries(secrets).find(([name]) => /cursor/i.test(name))?.[1];
  if (sealed === undefined) throw new Error('the local run has no keys for cursors');
  // Earlier versions of the local run stored one version of a secret, without a list.
  return JSON.parse(versionOf(SecretVersions.parse(sealed), {}).value) as Keyring;
}

/** As an operator does. A version without such a command leaves no row of it. */
async function blockHost(sources: string, LOCAL_DIR: string): Promise<void> {
  const { PATH, HOME } = process.env;
  const args = [
    'bin/operate.ts',
    'host',
    'block',
    'blocked.example.com',
    '--reason',
    'asked',
    '--local',
    '--yes',
  ];
  await promisify(execFile)(process.execPath, args, { cwd: sources, env: { PATH, HOME, LOCAL_DIR } }).catch(
    () => say('this version blocks no hosts'),
  );
}

async function record(
  sources: string,
  made: Omit<Fixture['made'], 'settings'>,
  scene: Scene,
): Promise<Fixture> {
  const { settings, seconds } = SCENES[scene];
  const directory = mkdtempSync(join(tmpdir(), 'record-'));
  await using started = new AsyncDisposableStack();
  started.defer(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  const dynamodb = await startDynamoDb({ directory: join(directory, 'dynamodb') });
  started.defer(() => dynamodb.stop());
  const sqs = await startSqs({ directory: join(directory, 'sqs') });
  started.defer(() => sqs.stop());
  const queues = await recordingQueues(sqs.endpoint);
  started.defer(() => queues.stop());
  const state = join(directory, 'run');
  const run = await startVersion(sources, state, {
    ...COMMON,
    ...settings,
    DYNAMODB_ENDPOINT: dynamodb.endpoint,
    SQS_ENDPOINT: queues.endpoint,
  });
  started.defer(() => run.kill());
  const { RECEIVER_CERT_FILE: cert = '', RECEIVER_KEY_FILE: key = '' } = run.environment;
  const receiver = await startReceiver({ cert, key });
  started.defer(() => receiver.stop());

  const caller = customer(run.environment);
  await caller.doEverything(receiver.url);
  await caller.playInSandbox();
  await caller.converseOften();
  await blockHost(sources, state);
  await sleep(seconds * 1000);
  await caller.beginRedelivery(receiver.url);
  await run.kill();
  const tables = await rowsIn(dynamodb.endpoint);
  const rows = Object.values(tables).flat().length;
  say(
    `${scene}: ${rows} rows, ${queues.messages.length} messages, ${caller.given.length} cursors and tokens`,
  );
  return {
    made: { ...made, settings },
    tables,
    messages: some(queues.messages),
    given: caller.given,
    cursorKeys: cursorKeysIn(state),
  };
}

async function recordAll(name: string, wanted: string): Promise<void> {
  const commit = commitOf(wanted);
  const made = { ...commit, recordedAt: new Date().toISOString(), by: 'test/compatibility/record.ts' };
  mkdirSync(join(FIXTURES, name), { recursive: true });
  await checkedOut(commit.commit, async (sources) => {
    for (const scene of Object.keys(SCENES) as Scene[])
      writeFileSync(join(FIXTURES, name, `${scene}.json`), written(await record(sources, made, scene)));
  });
}

const [name, commit = 'HEAD', ...more] = process.argv.slice(2);
if (name === undefined || name.startsWith('-') || more.length > 0) {
  process.stdout.write(HELP);
  process.exitCode = name === '--help' ? 0 : 2;
} else await recordAll(name, commit);
