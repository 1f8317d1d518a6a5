import { until } from 'aws-local/test/until.ts';
import { startReceiver } from '../../packages/cli/src/receiver/receiver.ts';
import { apiClient } from '../support/api.ts';
import { startLocalRun, temporaryDirectory } from '../support/local-run.ts';

const PATIENCE_MS = 300_000;

/** Durations of a local run in which a delivery succeeded at its second attempt. */
export interface WholeRun {
  readyAfterMs: number;
  attempts: number;
}

/**
 * Starts the local run with these settings, makes an event whose delivery fails once, and waits until it has
 * succeeded.
 * @throws Error when the run does not start, or the delivery does not succeed at its second attempt
 */
export async function runWhole(settings: Record<string, string>): Promise<WholeRun> {
  const directory = await temporaryDirectory();
  try {
    const run = await startLocalRun(directory.path, {
      ...settings,
      RETRY_BASE_SECONDS: '0.5',
      RETRY_CAP_SECONDS: '2',
    });
    // It leads a process group of its own, which a signal to this process does not reach.
    const killOnExit = () => process.kill(-run.pid, 'SIGKILL');
    process.once('exit', killOnExit);
    try {
      const attempts = await deliverWithRetry(run);
      return { readyAfterMs: run.readyAfterMs, attempts };
    } finally {
      if ((await run.interrupt()) !== 0) await run.kill();
      process.off('exit', killOnExit);
    }
  } finally {
    await directory.remove();
  }
}

async function deliverWithRetry({
  environment,
  tls,
}: Awaited<ReturnType<typeof startLocalRun>>): Promise<number> {
  const api = apiClient(environment);
  const answers = [503, 200];
  const receiver = await startReceiver({ ...tls, respond: () => ({ status: answers.shift() ?? 200 }) });
  try {
    const { id } = await api.register(`${receiver.url}/hooks`, ['conversation.created']);
    await api.createConversation();
    return await until(
      'a delivery that has succeeded',
      async () => {
        const [delivery] = await api.all(`/api/v1/webhooks/${id}/deliveries`);
        if (delivery?.status !== 'succeeded') return undefined;
        if (delivery.attempts !== 2) throw new Error(`It took ${delivery.attempts} attempts instead of 2.`);
        return delivery.attempts;
      },
      PATIENCE_MS,
    );
  } finally {
    await receiver.stop();
    api.close();
  }
}
