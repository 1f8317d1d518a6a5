import { join, resolve } from 'node:path';
import { DynoxideProcess, dynoxideBinary } from './dynoxide.ts';
import { DynoxideDatabase } from './dynoxide-database.ts';
import { type Engine, ensureStateDirectory } from './engine.ts';

/** The embedded DynamoDB with streams, and maintenance of its database file. */
export interface DynamoDbEngine extends Engine {
  /** Undefined while the engine restarts after a crash. */
  processId(): number | undefined;
  database: DynoxideDatabase;
  databaseFile: string;
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
    const database = DynoxideDatabase.openForUpkeep(file);
    return {
      endpoint: `http://127.0.0.1:${engine.port}`,
      processId: () => engine.pid,
      database,
      databaseFile: file,
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
