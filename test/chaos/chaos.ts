import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
import { until } from 'aws-local/test/until.ts';
import { commandLine, decimal, wholeNumber } from 'terminal/command-line.ts';
import { type ApiClient, apiClient } from '../support/api.ts';
import { type LocalRun, startLocalRun, temporaryDirectory } from '../support/local-run.ts';
import { tablesBehind } from '../support/tables.ts';
import { startTrap } from '../support/trap.ts';
import { childrenOf, killOne } from './killer.ts';
import { type Load, post } from './load.ts';
import { type FailingReceiver, startFailingReceiver } from './receivers.ts';
import { loadSandbox, outcomeOf, type SandboxNow, sandboxLoad } from './sandbox.ts';
import { usageOutcome } from './usage.ts';
import { type EndpointOutcome, faultsOf, isUnexplained, judge, type ShownDelivery } from './verdict.ts';

/*
 * The local run under load, with its functions and engines killed at random and receivers that fail: all
 * accepted work must end, and nothing may be lost.
 */
const options = commandLine(
  'npm run chaos --',
  "Posts messages at a rate to the local run while a function's process or the database is killed every two seconds or so, and the whole run (queues included) every 40 seconds, with receivers that fail a share of their requests. Half as many messages go to the organization's sandbox, which is reset now and then. Then waits until everything has ended, and checks every accepted message, delivery and count, and the metered usage. Exits with 1 when anything was lost or cannot be explained, anything of the sandbox reached a receiver or was metered, anything deleted by a reset is left, or usage is not exactly what there is.",
)
  .option('--seconds <n>', 'of load', wholeNumber(1, 1_000_000), 120)
  .option('--rate <n>', 'messages in a second', decimal(0.01, 10_000), 10)
  .option('--endpoints <n>', 'endpoints that receive', wholeNumber(1, 1000), 3)
  .option('--failing <share>', 'of the requests that fail', decimal(0, 1), 0.3)
  .parse()
  .opts();

const SETTINGS = {
  RETRY_BASE_SECONDS: '0.5',
  RETRY_CAP_SECONDS: '8',
  ATTEMPT_TIMEOUT_SECONDS: '2',
  GRACE_SECONDS: '30',
  LINGER_SECONDS: '10',
  SANDBOX_RATE_LIMIT_PER_MINUTE: '1000000',
};
/** Between two kills, on average. */
const KILL_EVERY_MS = 2_000;
const RESTART_EVERY_MS = 40_000;
const RESET_EVERY_MS = 15_000;
/** No reset at the end, so that there are deliveries to check. */
const resetsIn = (seconds: number) => Math.max(1, Math.floor((seconds * 1000) / RESET_EVERY_MS) - 2);
const PATIENCE_MS = 600_000;

const say = (text: string) => process.stdout.write(`${text}\n`);
const kills = { functions: 0, engine: 0, run: 0 };

interface Running {
  run: LocalRun;
  client: ApiClient;
  conversation: string;
  sandbox: SandboxNow;
}

async function start(directory: string): Promise<Running> {
  const run = await startLocalRun(directory, SETTINGS);
  const { environment } = run;
  const client = apiClient(environment, 32);
  const createClient = (API_KEY: string) => apiClient({ ...environment, API_KEY });
  const sandbox = {
    client: createClient(environment.SANDBOX_API_KEY),
    admin: createClient(environment.ADMIN_TOKEN),
  };
  return { run, client, conversation: await client.createConversation(), sandbox };
}

function close({ client, sandbox }: Running): void {
  for (const each of [client, sandbox.client, sandbox.admin]) each.close();
}

/** Kills these processes until the time is up; the ones that run in the end process the rest. */
async function torment(
  first: Running,
  { seconds, replace }: { seconds: number; replace(running: Running | undefined): void },
): Promise<Running> {
  let running = first;
  const end = performance.now() + seconds * 1000;
  let restartAt = performance.now() + RESTART_EVERY_MS;
  while (performance.now() < end) {
    await sleep(KILL_EVERY_MS * (0.5 + Math.random()));
    if (performance.now() > restartAt) {
      replace(undefined);
      await running.run.kill();
      close(running);
      kills.run += 1;
      running = await start(running.run.directory);
      replace(running);
      restartAt = performance.now() + RESTART_EVERY_MS;
      continue;
    }
    const { engine, functions } = childrenOf(running.run.pid);
    if (Math.random() < 0.2) kills.engine += Number(killOne(engine));
    else kills.functions += Number(killOne(functions));
  }
  return running;
}

/** The deliveries of an endpoint in the API; attempt logs are read where an outcome may be missing. */
async function readDeliveries(
  client: ApiClient,
  webhook: string,
  { receipts }: FailingReceiver,
): Promise<ShownDelivery[]> {
  const shown: ShownDelivery[] = [];
  const listed = await client.all(`/api/v1/webhooks/${webhook}/deliveries`);
  for (const { id, status, attempts, lastResponseStatus } of listed) {
    const started = Number(attempts);
    const requests = receipts.get(String(id))?.requests ?? 0;
    const delivery = { id: String(id), status: String(status), attempts: started };
    if (started === 1 && requests === 1)
      shown.push({ ...delivery, recorded: [{ status: Number(lastResponseStatus) || null }] });
    else {
      const { body } = await client.get(`/api/v1/webhooks/${webhook}/deliveries/${id}`);
      shown.push({ ...delivery, recorded: Object(body.data).attemptLog });
    }
  }
  return shown;
}

const isOver = ({ status }: { status?: unknown }) => status !== 'pending' && status !== 'retrying';

const directory = await temporaryDirectory();
const receivers: FailingReceiver[] = [];
const trap = await startTrap();
try {
  let running: Running | undefined = await start(directory.path);
  const webhooks: string[] = [];
  for (let endpoint = 0; endpoint < options.endpoints; endpoint += 1) {
    const receiver = await startFailingReceiver(running.run.tls, options.failing);
    receivers.push(receiver);
    webhooks.push((await running.client.register(receiver.url, ['message.received'])).id);
  }
  const load: Load = { accepted: new Set(), others: new Map() };
  const loading = new AbortController();
  const perSecond = options.rate;
  const { signal } = loading;
  const sandbox = await sandboxLoad(running.sandbox, trap.port);
  const posting = Promise.all([
    post(load, () => running, { perSecond, signal }),
    loadSandbox(sandbox, () => running?.sandbox, {
      perSecond: perSecond / 2,
      resets: { everyMs: RESET_EVERY_MS, times: resetsIn(options.seconds) },
      signal,
    }),
  ]);
  const progress = setInterval(() => {
    const requests = receivers.reduce((sum, receiver) => sum + receiver.requests(), 0);
    say(
      styleText(
        'dim',
        `  ${load.accepted.size} accepted, ${requests} requests received, killed ${JSON.stringify(kills)}`,
      ),
    );
  }, 10_000);
  say(
    `Tormenting the local run for ${options.seconds} s: ${options.rate} messages/s to ${webhooks.length} endpoints, ${options.failing * 100} % of requests fail`,
  );
  const last = await torment(running, {
    seconds: options.seconds,
    replace: (next) => {
      running = next;
    },
  });
  loading.abort();
  await posting;
  say(`Waiting until everything has ended (${load.accepted.size} messages accepted)`);
  const healing = performance.now();
  const waitForEnds = async (client: ApiClient, endpoints: readonly string[], owed: number) => {
    for (const webhook of endpoints) {
      const all = await client.all(`/api/v1/webhooks/${webhook}/deliveries`);
      if (all.length < owed || !all.every(isOver)) return (await sleep(2000)) === null;
    }
    return true;
  };
  const complain = (error: unknown) => say(styleText('red', String(error)));
  await Promise.all([
    until('every delivery to end', () => waitForEnds(last.client, webhooks, load.accepted.size), PATIENCE_MS),
    until(
      'every delivery of the sandbox to end',
      () => waitForEnds(last.sandbox.client, sandbox.webhooks, sandbox.accepted.size),
      PATIENCE_MS,
    ),
    // A purge runs once a minute.
    until(
      'the rows of old generations to be purged',
      async () => {
        const { body } = await last.sandbox.admin.get('/api/settings/sandbox');
        return body.data?.purge === null || (await sleep(1000)) === null;
      },
      PATIENCE_MS,
    ),
  ]).catch(complain);
  const healed = performance.now() - healing;
  // The ledger is counted every ten seconds.
  const readStats = async (webhook: string) => {
    const { body } = await last.client.get(`/api/v1/webhooks/${webhook}/stats`);
    return Object(body.data).totals;
  };
  await until('the ledger to balance', async () => {
    for (const webhook of webhooks)
      if ((await readStats(webhook)).pending > 0) return (await sleep(1000)) === null;
    return true;
  }).catch(complain);
  clearInterval(progress);

  const outcomes: EndpointOutcome[] = [];
  for (const [index, receiver] of receivers.entries()) {
    const webhook = webhooks[index] ?? '';
    outcomes.push({
      receiver,
      deliveries: await readDeliveries(last.client, webhook, receiver),
      stats: await readStats(webhook),
    });
  }
  const tables = tablesBehind(childrenOf(last.run.pid).engine);
  const rows = await tables.rows();
  say(
    'Waiting until usage is counted: what was being counted when its function was killed comes again after three minutes',
  );
  const { ORG_ID, SANDBOX_ORG_ID } = last.run.environment;
  const organizations = { live: ORG_ID, sandbox: SANDBOX_ORG_ID };
  const usage = await usageOutcome(organizations, last.sandbox.admin, () => tables.rows(), complain);
  tables.close();
  const strangers = receivers.filter(({ senders }) => senders.has(SANDBOX_ORG_ID));
  const verdict = judge(
    load.accepted,
    outcomes,
    {
      ...(await outcomeOf(sandbox, last.sandbox, rows)),
      reachedOut: trap.connections() + strangers.length,
    },
    usage,
  );
  say('');
  for (const [name, value] of Object.entries({
    ...verdict,
    'answers other than 201': JSON.stringify(Object.fromEntries(load.others)),
    killed: JSON.stringify(kills),
    'ended after the load, s': (healed / 1000).toFixed(1),
  }))
    say(`${name.padEnd(26)} ${value}`);
  for (const { receiver, deliveries } of outcomes)
    for (const delivery of deliveries) {
      const receipt = receiver.receipts.get(delivery.id);
      if (receipt && isUnexplained(delivery, receipt))
        say(styleText('red', `Unexplained: ${JSON.stringify({ ...delivery, receipt })}`));
    }
  const faults = faultsOf(verdict);
  say(
    faults.length === 0
      ? styleText(
          'green',
          '\nNothing was lost, usage is exact, and nothing of the sandbox got out, was metered or was left over.',
        )
      : styleText('red', `\n${faults.join('\n')}`),
  );
  process.exitCode = faults.length === 0 ? 0 : 1;
  close(last);
  await last.run.interrupt();
} finally {
  await trap.stop();
  for (const receiver of receivers) await receiver.stop();
  await directory.remove();
}
