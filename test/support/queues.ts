import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { queueArn } from 'aws-local/arns.ts';

/** Reads the queues directly, without the service. */
export interface QueuesBehind {
  /**
   * The number of messages in a queue, including those in flight and delayed.
   * @param path of the queue in the stack, for example `Bus/Meter/Queue`
   * @throws Error when not exactly one queue matches
   */
  queued(path: string): number;
  /**
   * The bodies of these messages, oldest first.
   * @throws as {@link queued}
   */
  bodies(path: string): string[];
  /** @throws as {@link queued} */
  arnOf(path: string): string;
  close(): void;
}

/** @param state directory of the run, in which the embedded SQS keeps its messages */
export function queuesBehind(state: string): QueuesBehind {
  const database = new DatabaseSync(join(state, 'fauxqs.db'), { readOnly: true, timeout: 5_000 });
  const nameOf = (path: string): string => {
    const logicalId = new RegExp(`-${path.replaceAll('/', '')}[0-9A-F]{8}$`);
    const names = database
      .prepare('SELECT name FROM sqs_queues')
      .all()
      .map(({ name }) => String(name));
    const [name, ...others] = names.filter((one) => logicalId.test(one));
    if (name === undefined || others.length > 0)
      throw new Error(`of the queues ${names.join(', ')} exactly one is to be ${path}`);
    return name;
  };
  return {
    arnOf: (path) => queueArn(nameOf(path)),
    queued(path) {
      const [row] = database
        .prepare('SELECT count(*) AS messages FROM sqs_messages WHERE queue_name = ?')
        .all(nameOf(path));
      return Number(row?.messages);
    },
    bodies: (path) =>
      database
        .prepare('SELECT body FROM sqs_messages WHERE queue_name = ? ORDER BY sent_timestamp')
        .all(nameOf(path))
        .map(({ body }) => String(body)),
    close: () => database.close(),
  };
}
