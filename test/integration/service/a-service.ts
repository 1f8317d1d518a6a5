import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { type ApiClient, apiClient } from '../../support/api.ts';
import { type LocalRun, startLocalRun, temporaryDirectory } from '../../support/local-run.ts';
import { receiversOf } from './receivers.ts';

/** Settings of a run that the test kills. */
export const KILLED = {
  // A short deadline means short leases, so a killed worker's deliveries can be claimed again soon.
  ATTEMPT_TIMEOUT_SECONDS: '3',
  // On a busy machine a receiver may miss the deadline more than once.
  RETRY_BASE_SECONDS: '0.5',
  RETRY_CAP_SECONDS: '2',
  // The minimum of the setting.
  GRACE_SECONDS: '30',
};
/** Covers the grace, a run of the reconciler and the attempts. */
export const RECOVERY_MS = 150_000;

/**
 * Log lines of requests answered with 500: the line names the error, the answer does not. An open page may
 * have a request in progress when the run stops.
 */
async function failuresIn(directory: string): Promise<string[]> {
  const log = await readFile(join(directory, 'logs/functions.log'), 'utf8');
  return log
    .split('\n')
    .filter((line) => /REQUEST_FAILED|^gateway /.test(line) && !line.includes('The local run has stopped'));
}

/** A local run for the tests of a file, and receivers with endpoints in it. */
export function aService(settings: Record<string, string>) {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>> | undefined;
  let started: { run: LocalRun; api: ApiClient } | undefined;
  const receivers: (() => Promise<void>)[] = [];

  async function start(): Promise<void> {
    directory ??= await temporaryDirectory();
    const run = await startLocalRun(directory.path, settings);
    started = { run, api: apiClient(run.environment) };
  }

  function current() {
    if (started === undefined) throw new Error('the local run lives only while the tests do');
    return started;
  }

  beforeAll(start, 120_000);
  afterAll(async () => {
    for (const stop of receivers) await stop();
    started?.api.close();
    await started?.run.interrupt();
    const failures = started && (await failuresIn(started.run.directory));
    await directory?.remove();
    expect(failures, 'requests that failed unexpectedly').toEqual([]);
  });

  return {
    get run() {
      return current().run;
    },
    get api() {
      return current().api;
    },
    /**
     * Stops the run and starts it again on the same data.
     * @returns the exit code of the first run, null when it was killed
     */
    async restart(end: 'interrupt' | 'kill' = 'interrupt'): Promise<number | null> {
      const code = (await current().run[end]()) ?? null;
      current().api.close();
      await start();
      return code;
    },

    ...receiversOf({
      api: () => current().api,
      tls: () => current().run.tls,
      keep: ({ stop }) => void receivers.push(stop),
    }),
  };
}
export type LocalService = ReturnType<typeof aService>;
