import { buildApp } from 'fauxqs';
import { REGION } from '../arns.ts';
import type { Queues } from '../sources/queues.ts';
import { keepDroppedFields } from './dropped-fields.ts';
import { embeddedQueues } from './embedded-queues.ts';
import { type Engine, ensureStateDirectory } from './engine.ts';
import { serveFairly } from './fair-queues.ts';
import { fauxqsInternals, openPersistence, type SnsStore } from './fauxqs.ts';
import { limitMessages, MESSAGE_BYTES } from './message-sizes.ts';

/** The embedded SQS. */
export interface SqsEngine extends Engine {
  /** The same queues without its API. */
  queues: Queues;
  /** Topics of the SNS that answers at the same endpoint. They start empty. */
  topics: SnsStore;
}

/**
 * Starts the embedded SQS in this process. Messages, visibility and receive counts are stored in
 * `<directory>/fauxqs.db`.
 * @param options.messageBytes limit on a message and on a batch
 * @throws LocalRunError when the directory is not writable
 */
export async function startSqs(options: { directory: string; messageBytes?: number }): Promise<SqsEngine> {
  const { messageBytes = MESSAGE_BYTES } = options;
  ensureStateDirectory(options.directory);
  const internals = await fauxqsInternals();
  const persistence = openPersistence(internals, options.directory);
  const sqsStore = new internals.SqsStore();
  const snsStore = new internals.SnsStore();
  const s3Store = new internals.S3Store();
  // Makes queue URLs use the request's host instead of a name that does not resolve.
  sqsStore.host = '';
  serveFairly(sqsStore);
  listPending(snsStore);

  // Load before connecting: a connected store writes queues while it loads them, and replacing a queue's row
  // deletes its messages.
  persistence.loadSqsAndSns(sqsStore, snsStore);
  sqsStore.persistence = persistence;
  for (const queue of sqsStore.allQueues()) queue.persistence = persistence;

  const app = buildApp({ logger: false, defaultRegion: REGION, stores: { sqsStore, snsStore, s3Store } });
  keepDroppedFields(app, internals);
  limitMessages(app, messageBytes);
  const endpoint = await app.listen({ port: 0, host: '127.0.0.1' });
  return {
    endpoint,
    queues: embeddedQueues(sqsStore, internals, messageBytes),
    topics: snsStore,
    async stop() {
      await app.close();
      persistence.close();
    },
  };
}

/** Lists unconfirmed subscriptions with `PendingConfirmation` in place of their ARN, as SNS does. */
function listPending(store: SnsStore): void {
  const list = store.listSubscriptionsByTopic.bind(store);
  store.listSubscriptionsByTopic = (topic, next) => {
    const page = list(topic, next);
    const subscriptions = page.subscriptions.map((each) =>
      each.confirmed ? each : { ...each, arn: 'PendingConfirmation' },
    );
    return { ...page, subscriptions };
  };
}
