import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DynoxideProcess, dynoxideBinary } from './dynoxide.ts';
import { type Engine, ensureStateDirectory } from './engine.ts';
import { ExpiryLog } from './expiry-log.ts';
import { StreamLog } from './stream-log.ts';

/** The embedded DynamoDB with streams, and maintenance of its database file. */
export interface DynamoDbEngine extends Engine {
  /** Undefined while the engine restarts after a crash. */
  processId(): number | undefined;
  streamLog: StreamLog;
  expiryLog: ExpiryLog;
}

/**
 * Starts the embedded DynamoDB on `<directory>/dynamodb.sqlite`.
 * @throws LocalRunError when the program is missing or does not start, or the directory is not writable or in
 *   use by another run
 */
export async function startDynamoDb(options: {
  directory: string;
  binary?: string;
}): Promise<DynamoDbEngine> {
  ensureStateDirectory(options.directory);
  const file = join(resolve(options.directory), 'dynamodb.sqlite');
  const engine = await DynoxideProcess.start(dynoxideBinary(programFrom(options.binary)), file);
  try {
    // The engine waits up to five seconds for this connection's writes.
    const database = new DatabaseSync(file, { timeout: 5_000 });
    // No write of the upkeep waits for the disk: what a power failure undoes is done again.
    database.exec('PRAGMA synchronous = NORMAL');
    return {
      endpoint: `http://127.0.0.1:${engine.port}`,
      processId: () => engine.pid,
      streamLog: new StreamLog(database),
      expiryLog: new ExpiryLog(database),
      async stop() {
        database.close();
        await engine.stop();
      },
    };
  } catch (error) {
    await engine.stop();
    throw error;
  }
}

const programFrom = (binary: string | undefined) =>
  binary === undefined ? process.env : { ...process.env, DYNOXIDE_BIN: binary };
