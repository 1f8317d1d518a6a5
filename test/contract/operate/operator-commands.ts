import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Engine } from 'aws-local/engines/engine.ts';
import { startSecrets } from 'aws-local/engines/secrets.ts';
import { sqs } from 'aws-local/test/engines.ts';
import { plain } from 'terminal/paint.ts';
import { afterAll, beforeAll, expect } from 'vitest';
import type { Context } from '../../../lib/operate/context.ts';
import type { Flags } from '../../../lib/operate/flags.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';

const GENERATE = {
  SecretStringTemplate: JSON.stringify({ current: '1' }),
  GenerateStringKey: '1',
  PasswordLength: 64,
  ExcludePunctuation: true,
};

const FLAGS: Flags = { local: true, max: 1000, ids: [] };

/**
 * The operator's context: engines with the tables of the service, queues of one worker, and keyrings, all
 * new.
 */
export function operators() {
  const tables = dynamoDb();
  const queues = sqs();
  let directory = '';
  let secrets: Engine | undefined;
  let client: SecretsManagerClient | undefined;
  const names: string[] = [];

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'operate-'));
    const made = Array.from({ length: 40 }, (_, index) => `keyring-${index}`);
    names.push(...made);
    secrets = await startSecrets({ directory, secrets: made.map((name) => ({ name, generate: GENERATE })) });
    client = new SecretsManagerClient({
      region: 'us-east-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      endpoint: secrets.endpoint,
    });
  });
  afterAll(async () => {
    client?.destroy();
    await secrets?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  return async () => {
    const dynamodb = tables.client();
    const made: TestTables = await tables.tables(dynamodb);
    const [fresh, retry, slow, meter] = await Promise.all(
      ['fresh', 'retry', 'slow', 'meter'].map(() => queues.queues({ visibilitySeconds: 30, maxReceives: 3 })),
    );
    const [signing, cursor] = [names.pop(), names.pop()];
    if (!fresh || !retry || !slow || !meter || !signing || !cursor || !client)
      throw new Error('the engines run only while the tests do');
    let time = new Date();
    const context = (flags: Partial<Flags> = {}): Context => ({
      place: {
        name: 'test',
        region: 'us-east-1',
        outputs: {},
        tables: new Map(Object.entries(made).map(([name, table]) => [name, table.name])),
        queues: new Map([
          ['fresh', fresh.url],
          ['retry', retry.url],
          ['slow', slow.url],
          ['meter', meter.url],
        ]),
        deadLetters: new Map([
          ['delivery', fresh.deadLetterUrl],
          ['meter', meter.deadLetterUrl],
        ]),
        keys: new Map([
          ['signing', signing],
          ['cursor', cursor],
        ]),
      },
      clients: {
        dynamodb,
        sqs: queues.client(),
        secretsManager: client ?? new SecretsManagerClient(),
        [Symbol.dispose]: () => undefined,
      },
      flags: { ...FLAGS, ...flags },
      paint: plain,
      progress: () => undefined,
      now: () => time,
    });
    return {
      context,
      tables: made,
      queues: { meter, fresh },
      /** Advances the operator's clock. */
      pass: (seconds: number) => {
        time = new Date(time.getTime() + seconds * 1000);
      },
    };
  };
}

/** The message with which a command is refused. */
export const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => expect.fail('it was to be refused'),
    (error: Error) => error.message,
  );
