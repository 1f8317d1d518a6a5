import { ConditionalCheckFailedException, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { ReceivedEvent } from 'conversation-service-sdk/receiver';

/** As long as events can be redelivered. */
const KEPT_SECONDS = 30 * 24 * 60 * 60;

const client = new DynamoDBClient();

/** Saves an event once: what ignores duplicates is also the queue of the work. */
export async function saveEvent(event: ReceivedEvent): Promise<void> {
  try {
    await client.send(
      new PutItemCommand({
        TableName: process.env.INBOX_TABLE,
        Item: {
          id: { S: event.id },
          event: { S: JSON.stringify(event) },
          expiresAt: { N: String(Math.floor(Date.now() / 1000) + KEPT_SECONDS) },
        },
        ConditionExpression: 'attribute_not_exists(id)',
      }),
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}
