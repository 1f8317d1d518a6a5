import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { Message } from '@aws-sdk/client-sqs';
import type { buildApp } from 'fauxqs';

type Stores = NonNullable<NonNullable<Parameters<typeof buildApp>[0]>['stores']>;
export type SqsStore = Stores['sqsStore'];
export type SnsStore = Stores['snsStore'];
export type Queue = ReturnType<SqsStore['createQueue']>;
type CreateMessage = (
  body: string,
  attributes?: Record<string, object>,
  ...others: unknown[]
) => { messageAttributes: Record<string, object>; messageGroupId?: string };
/** Operations of the API by the JSON of their answers. */
export interface Operations {
  ReceiveMessage: { Messages?: Message[] };
  DeleteMessageBatch: object;
  ChangeMessageVisibilityBatch: object;
  SendMessage: object;
  SendMessageBatch: { Failed: { Id: string; Code: string; Message: string }[] };
}
export type Persistence = NonNullable<SqsStore['persistence']>;

/** Modules of the SQS engine, whose package exports only one server on all interfaces. */
export interface Internals {
  SqsStore: (new () => SqsStore) & { createMessage: CreateMessage };
  SnsStore: new () => SnsStore;
  S3Store: new () => Stores['s3Store'];
  PersistenceManager: new (directory: string) => Persistence;
  /** They take the JSON of the request. */
  operations: {
    [Name in keyof Operations]: (
      body: object,
      store: SqsStore,
    ) => Operations[Name] | Promise<Operations[Name]>;
  };
}

/** Loads the engine's modules by file, past the package's `exports`. */
export async function fauxqsInternals(): Promise<Internals> {
  const manifest = findPackageJSON('fauxqs', import.meta.url);
  if (!manifest) throw new Error('The package fauxqs is not installed');
  const load = (file: string) => import(pathToFileURL(join(dirname(manifest), 'dist', file)).href);
  const loadOperation = (name: string) => load(`sqs/actions/${name}.js`);
  const [sqs, sns, s3, persistence, receive, remove, release, send, sendAll] = await Promise.all([
    load('sqs/sqsStore.js'),
    load('sns/snsStore.js'),
    load('s3/s3Store.js'),
    load('persistence.js'),
    loadOperation('receiveMessage'),
    loadOperation('deleteMessageBatch'),
    loadOperation('changeMessageVisibilityBatch'),
    loadOperation('sendMessage'),
    loadOperation('sendMessageBatch'),
  ]);
  const operations = {
    ReceiveMessage: receive.receiveMessage,
    DeleteMessageBatch: remove.deleteMessageBatch,
    ChangeMessageVisibilityBatch: release.changeMessageVisibilityBatch,
    SendMessage: send.sendMessage,
    SendMessageBatch: sendAll.sendMessageBatch,
  };
  return { ...sqs, ...sns, ...s3, ...persistence, operations };
}

/** Opens the persistence in `directory` without two bugs of version 2.4.1. */
export function openPersistence({ PersistenceManager }: Internals, directory: string): Persistence {
  const persistence = new PersistenceManager(directory);
  const database: unknown = Reflect.get(persistence, 'db');
  if (!(database instanceof DatabaseSync))
    throw new Error('fauxqs keeps its messages elsewhere: adapt this to its version');

  // Each change is a commit and would wait for the disk. The operating system keeps a killed process's pages,
  // so only a power failure loses messages, which the service survives.
  database.exec('PRAGMA synchronous = OFF');

  // The original writes NULL into the non-null receive count when a visibility timeout is set to 0.
  const release = database.prepare(
    'UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL WHERE message_id = ?',
  );
  persistence.updateMessageReady = (messageId) => void release.run(messageId);
  return persistence;
}
