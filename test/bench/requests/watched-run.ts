import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Service, type ServiceOptions, startService } from '../../support/service.ts';
import { consumedBy } from './capacity.ts';
import { watchInvocations } from './invocations.ts';
import { NOTHING, plus, type Tallies, type Tally } from './tally.ts';

const RECORDER = join(import.meta.dirname, 'recorder.ts');
const PATIENCE_MS = 180_000;

/** The local run, and the work of its functions. */
export interface WatchedRun {
  service: Service;
  /**
   * The work of functions since the last call.
   * @param quietMs without any activity, after which all work counts as done
   */
  taken(quietMs?: number): Promise<Tallies>;
  stop(): Promise<void>;
}

/**
 * Starts the service with a recorder in every function's process.
 */
export async function startWatchedRun(settings: ServiceOptions['settings']): Promise<WatchedRun> {
  const directory = mkdtempSync(join(tmpdir(), 'requests-'));
  const file = join(directory, 'requests.jsonl');
  writeFileSync(file, '');
  /** By physical names, which logs and invocations have. */
  let tallies = new Map<string, Tally>();
  /** The functions' own names in logs. */
  const names = new Map<string, string>();
  let lastAt = performance.now();
  let read = 0;
  const add = (physicalName: string, part: Partial<Tally>) => {
    lastAt = performance.now();
    tallies.set(physicalName, plus(tallies.get(physicalName) ?? NOTHING, part));
  };

  const unwatch = watchInvocations(({ physicalName, ...work }) =>
    add(physicalName, { invocations: 1, ...work }),
  );
  const service = await startService({
    settings,
    variables: { NODE_OPTIONS: `--require ${RECORDER}`, REQUEST_RECORDS: file },
    onLog: ({ source, text }) => add(source, { logLines: 1, logBytes: Buffer.byteLength(text) }),
  });

  function readRecords(): void {
    const text = readFileSync(file).subarray(read);
    const end = text.lastIndexOf('\n') + 1;
    read += end;
    for (const line of text.subarray(0, end).toString().split('\n').filter(Boolean)) {
      const { fn, physicalName, operation, asked, answer } = JSON.parse(line);
      if (operation === undefined) names.set(physicalName, fn);
      else add(physicalName, partOf(operation, asked, answer));
    }
  }

  return {
    service,
    async taken(quietMs = 1_500) {
      const deadline = performance.now() + PATIENCE_MS;
      do {
        await sleep(50);
        readRecords();
        if (performance.now() > deadline) throw new Error('the run does not come to rest');
      } while (performance.now() - lastAt < quietMs);
      const done = tallies;
      tallies = new Map();
      // A line without a name is the run's own.
      return Object.fromEntries(
        [...done].flatMap(([physicalName, tally]) => {
          const name = names.get(physicalName);
          return name === undefined ? [] : [[name, tally]];
        }),
      );
    },
    async stop() {
      unwatch();
      await service.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Adds one request to its function's tally. */
function partOf(operation: string, asked: string, answer: string): Partial<Tally> {
  // Written once in five minutes for a key, but here with each call, because each is the first one with its
  // key.
  if (operation === 'DynamoDB.UpdateItem' && /#used#key_/.test(asked)) return {};
  const { reads, writes, entries } = consumedBy(operation, asked, answer);
  const [service] = operation.split('.');
  return {
    requests: 1,
    reads,
    writes,
    ...(service === 'AmazonSQS' && { sqsRequests: 1 }),
    ...(service === 'AWSEvents' && { busEntries: entries }),
  };
}
