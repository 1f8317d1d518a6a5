import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { startDynamoDb } from 'aws-local/engines/dynamodb.ts';
import { CREDENTIALS } from 'aws-local/engines/engines.ts';
import { startSqs } from 'aws-local/engines/sqs.ts';
import type { Table } from '../../../functions/aws/table.ts';
import { LANES, type Lane } from '../../../functions/delivery/lanes.ts';
import { temporaryDirectory } from '../../support/local-run.ts';
import type { TableName } from '../../table-definitions.ts';
import { createTable } from '../create-table.ts';
import { ending } from '../measure/interruption.ts';
import { cpuMsOf } from '../measure/processor-time.ts';

const NAMES = ['service', 'outbox', 'deliveries', 'ledger'] as const satisfies readonly TableName[];
type PlaceTables = Record<(typeof NAMES)[number], Table>;

/** The engines with empty tables and queues, without functions: writes start nothing. */
export interface Place {
  client: DynamoDBDocumentClient;
  sqs: SQSClient;
  tables: PlaceTables;
  queues: Record<Lane, string>;
  /** Where the embedded DynamoDB stores its items. */
  file: string;
  /** Milliseconds of processor time that this process, which holds the queues, and the engine have used. */
  cpuMs(): number;
}

export async function withPlace<R>(use: (place: Place) => Promise<R>): Promise<R> {
  const directory = await temporaryDirectory();
  return ending(
    directory,
    () => directory.remove(),
    async ({ path }) =>
      ending(
        await startDynamoDb({ directory: join(path, 'dynamodb') }),
        (engine) => engine.stop(),
        async (dynamodb) =>
          ending(
            await startSqs({ directory: join(path, 'sqs') }),
            (engine) => engine.stop(),
            async (queues) => {
              const { user, system } = process.cpuUsage();
              return use({
                ...(await placeOf(dynamodb.endpoint, queues.endpoint)),
                file: join(path, 'dynamodb', 'dynamodb.sqlite'),
                cpuMs() {
                  const own = process.cpuUsage({ user, system });
                  return (own.user + own.system) / 1000 + cpuMsOf(dynamodb.processId());
                },
              });
            },
          ),
      ),
  );
}

async function placeOf(dynamodb: string, queues: string): Promise<Omit<Place, 'file' | 'cpuMs'>> {
  const access = { region: 'us-east-1', credentials: CREDENTIALS };
  const plain = new DynamoDBClient({ ...access, endpoint: dynamodb });
  const client = DynamoDBDocumentClient.from(plain, { marshallOptions: { removeUndefinedValues: true } });
  const sqs = new SQSClient({ ...access, endpoint: queues });
  for (const name of NAMES) await createTable(plain, name);
  const urls: Partial<Record<Lane, string>> = {};
  for (const lane of LANES) {
    const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: lane }));
    urls[lane] = QueueUrl ?? '';
  }
  return {
    client,
    sqs,
    tables: Object.fromEntries(NAMES.map((name) => [name, { client, name }])) as unknown as PlaceTables,
    queues: urls as Record<Lane, string>,
  };
}
