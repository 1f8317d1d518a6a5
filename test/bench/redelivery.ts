import { styleText } from 'node:util';
import { until } from 'aws-local/test/until.ts';
import { commandLine, wholeNumber } from 'terminal/command-line.ts';
import { startReceiver } from '../../packages/cli/src/receiver/receiver.ts';
import { childrenOf } from '../chaos/killer.ts';
import { type ApiClient, apiClient } from '../support/api.ts';
import { startLocalRun, temporaryDirectory } from '../support/local-run.ts';
import { tablesBehind } from '../support/tables.ts';

/*
 * A redelivery job of many deliveries through the local run, whose recursive-loop detection would stop a
 * function that sends to its own queue without `RecursiveLoop: Allow`.
 */
const { deliveries: DELIVERIES } = commandLine(
  'npm run bench -- redelivery',
  'Has so many messages delivered to one endpoint, marks the deliveries as exhausted in the table, and starts one job that redelivers them. Prints the time of each part, and exits with 1 when an event did not come once more, or came twice.',
)
  .option('--deliveries <n>', 'messages', wholeNumber(1, 10_000_000), 20_000)
  .parse()
  .opts();

const AT_ONCE = 16;
const PATIENCE_MS = 3_600_000;
const EVERY_MS = 1_000;

const say = (text: string) => process.stdout.write(`${text}\n`);
const seconds = (since: number) => `${((performance.now() - since) / 1000).toFixed(0)} s`;

/** How often each event arrived, in the current part. */
const copies = new Map<string, number>();

async function inLanes<T>(items: Iterable<T>, act: (item: T) => Promise<unknown>): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const lane = async () => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) await act(next.value);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

async function deliverMessages(api: ApiClient): Promise<void> {
  const conversation = await api.createConversation();
  const path = `/api/v1/conversations/${conversation}/messages`;
  await inLanes(Array(DELIVERIES).keys(), async (index) => {
    const { status } = await api.post(path, { role: 'user', content: `message ${index}` });
    if (status !== 201) throw new Error(`a message was answered with ${status}`);
    if (index > 0 && index % 2000 === 0) say(styleText('dim', `  ${index} messages`));
  });
  await until('every message to be delivered', () => copies.size >= DELIVERIES, PATIENCE_MS, EVERY_MS);
}

const directory = await temporaryDirectory();
// A receiver of a busy machine may miss a short deadline, and would then get an event twice.
const run = await startLocalRun(directory.path, { ATTEMPT_TIMEOUT_SECONDS: '30' });
const receiver = await startReceiver({
  ...run.tls,
  onDelivery({ headers }) {
    const event = String(headers['webhook-id']);
    copies.set(event, (copies.get(event) ?? 0) + 1);
  },
});
const api = apiClient(run.environment, AT_ONCE);
try {
  const { id } = await api.register(receiver.url, ['message.received']);
  const path = `/api/v1/webhooks/${id}`;
  let begun = performance.now();
  await deliverMessages(api);
  say(`${copies.size} deliveries made in ${seconds(begun)}`);

  begun = performance.now();
  const tables = tablesBehind(childrenOf(run.pid).engine);
  const settled = async () => {
    const rows = (await tables.rows([id])).filter(({ item }) => String(item.sk).startsWith('dlv_'));
    return rows.length === DELIVERIES && rows.every(({ item }) => item.status === 'succeeded') && rows;
  };
  const deliveries = await until('every delivery to be settled', settled, PATIENCE_MS, EVERY_MS);
  await inLanes(deliveries, ({ table, item }) =>
    tables.rewrite({ table, item: { ...item, status: 'exhausted', terminalReason: 'max_attempts' } }),
  );
  tables.close();
  copies.clear();
  say(`${deliveries.length} deliveries marked as exhausted in ${seconds(begun)}`);

  begun = performance.now();
  const from = new Date(Date.now() - 24 * 3_600_000).toISOString();
  const job = (await api.post(`${path}/redeliveries`, { from })).body.data?.id;
  let shown = 0;
  const done = await until(
    'the job to end',
    async () => {
      const progress = (await api.get(`${path}/redeliveries/${job}`)).body.data;
      if (Number(progress?.redelivered) >= shown + 2000) {
        shown = Number(progress?.redelivered);
        say(styleText('dim', `  ${shown} redelivered after ${seconds(begun)}`));
      }
      return progress?.status !== 'running' && progress;
    },
    PATIENCE_MS,
    EVERY_MS,
  );
  await until('every event to come once more', () => copies.size >= DELIVERIES, PATIENCE_MS, EVERY_MS);
  const twice = [...copies.values()].filter((count) => count > 1).length;
  say(`job ${done.status}: ${done.redelivered} of ${done.examined} redelivered in ${seconds(begun)}`);
  say(`${copies.size} events came, ${twice} of them more than once`);
  const isRight = done.status === 'done' && done.redelivered === DELIVERIES && twice === 0;
  say(isRight ? styleText('green', 'Complete, none twice.') : styleText('red', 'Not as it must be.'));
  if (!isRight) process.exitCode = 1;
} finally {
  api.close();
  await receiver.stop();
  await run.interrupt();
  await directory.remove();
}
