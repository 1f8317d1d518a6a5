import { join } from 'node:path';
import type { EngineName } from './names.ts';
import { type Server, startServer } from './program.ts';

/** An engine that is ready to be tested. */
export interface StartedEngine {
  name: EngineName;
  /** Environment variables that make tests and the local run use it. */
  settings: Record<string, string>;
  /** Milliseconds from the start of its program until it listened; absent where each user starts its own. */
  startMs?: number;
  stop(): Promise<void>;
}

/** @param directory where it is installed */
export async function startEngine(name: EngineName, directory: string): Promise<StartedEngine> {
  // Each test file and each local run starts its own, with a database file of its own.
  if (name === 'dynoxide')
    return {
      name,
      settings: { DYNOXIDE_BIN: join(directory, 'bin/dynoxide') },
      stop: () => Promise.resolve(),
    };
  const startedAt = performance.now();
  const { address, stop } = await STARTS[name](directory);
  const variable = { 'dynamodb-local': 'DYNAMODB_ENDPOINT', elasticmq: 'SQS_ENDPOINT' }[name];
  return {
    name,
    settings: { [variable]: `http://${address}` },
    startMs: performance.now() - startedAt,
    stop,
  };
}

const STARTS: Record<Exclude<EngineName, 'dynoxide'>, (directory: string) => Promise<Server>> = {
  'dynamodb-local': (directory) =>
    startServer(
      'java',
      [
        '-Xmx768m',
        `-Dsqlite4java.library.path=${directory}`,
        '-cp',
        join(directory, '*'),
        join(import.meta.dirname, 'LoopbackDynamoDb.java'),
        ...['-inMemory', '-sharedDb', '-disableTelemetry'],
        // Checked by its command line; the launcher takes any free port instead.
        ...['-port', '8000'],
      ],
      /listening on (127\.0\.0\.1:\d+)/,
    ),
  elasticmq: (directory) =>
    startServer(
      'java',
      [
        '-Xmx512m',
        '-Drest-sqs.bind-hostname=127.0.0.1',
        '-Drest-sqs.bind-port=0',
        // Queue URLs have the host of the request.
        '-Dnode-address.host=*',
        '-Drest-stats.enabled=false',
        ...['-cp', join(directory, '*'), 'org.elasticmq.server.Main'],
      ],
      /Started SQS rest server, bind address (127\.0\.0\.1:\d+)/,
    ),
};
