import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { MAX_DELAY_SECONDS } from '../domain/backoff.ts';
import type { DeadLetter } from '../domain/dead-letter.ts';

/**
 * Leaves entries of the outbox for later in the queue of dead letters.
 * @param url of the queue
 */
export function postponement(client: SQSClient, url: string) {
  return async (ids: readonly string[]): Promise<void> => {
    const letter: DeadLetter = { kind: 'entries', ids };
    await client.send(
      new SendMessageCommand({
        QueueUrl: url,
        MessageBody: JSON.stringify(letter),
        // The longest that there is: what failed once more is not healed in a moment.
        DelaySeconds: MAX_DELAY_SECONDS,
      }),
    );
  };
}
