import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll } from 'vitest';
import type { Engine } from '../../src/engines/engine.ts';
import { startSqs } from '../../src/engines/sqs.ts';
import { createMemoryDirectory } from './memory-directory.ts';

/** Credentials that every engine accepts. */
export const ACCESS = {
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
};

/** An SQS for the tests of this file: the one at `SQS_ENDPOINT`, or the embedded one. */
export function sqs() {
  const endpoint = engineOf(process.env.SQS_ENDPOINT, startSqs);
  let client: SQSClient | undefined;
  const created: string[] = [];
  const ours = () => {
    client ??= new SQSClient({ ...ACCESS, endpoint: endpoint() });
    return client;
  };

  afterAll(async () => {
    await Promise.all(created.map((QueueUrl) => ours().send(new DeleteQueueCommand({ QueueUrl }))));
    client?.destroy();
  });

  const create = async (Attributes: Record<string, string>): Promise<string> => {
    const { QueueUrl = '' } = await ours().send(
      new CreateQueueCommand({ QueueName: `queue-${randomUUID()}`, Attributes }),
    );
    created.push(QueueUrl);
    return QueueUrl;
  };

  return {
    client: ours,
    endpoint,
    /** An empty queue with this maximum of receives, and its dead-letter queue. */
    async queues(terms: { visibilitySeconds: number; maxReceives: number }) {
      const deadLetterUrl = await create({});
      const { Attributes } = await ours().send(
        new GetQueueAttributesCommand({ QueueUrl: deadLetterUrl, AttributeNames: ['QueueArn'] }),
      );
      const url = await create({
        VisibilityTimeout: String(terms.visibilitySeconds),
        RedrivePolicy: JSON.stringify({
          deadLetterTargetArn: Attributes?.QueueArn,
          maxReceiveCount: terms.maxReceives,
        }),
      });
      return { url, deadLetterUrl };
    },
  };
}

/** The endpoint of an engine that runs during this file's tests. */
export function engineOf(
  given: string | undefined,
  start: (options: { directory: string }) => Promise<Engine>,
): () => string {
  let endpoint = given;
  if (given === undefined) {
    const directory = createMemoryDirectory('engine-');
    let engine: Engine | undefined;
    beforeAll(async () => {
      engine = await start({ directory });
      endpoint = engine.endpoint;
    });
    // Hooks run in the reverse order of their registration, so clients are closed by now.
    afterAll(async () => {
      await engine?.stop();
      rmSync(directory, { recursive: true, force: true });
    });
  }
  return () => {
    if (endpoint === undefined) throw new Error('the engine runs only while the tests do');
    return endpoint;
  };
}
