import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda';
import type { ReceivedEvent } from 'conversation-service-sdk/receiver';

/** The function behind the table's stream. A batch is retried from its first record that failed. */
export async function handler({ Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> {
  for (const { dynamodb } of Records) {
    try {
      await processEvent(JSON.parse(dynamodb?.NewImage?.event?.S ?? ''));
    } catch (error) {
      console.error(error);
      return { batchItemFailures: [{ itemIdentifier: dynamodb?.SequenceNumber ?? '' }] };
    }
  }
  return { batchItemFailures: [] };
}

async function processEvent(event: ReceivedEvent): Promise<void> {
  switch (event.type) {
    case 'message.received':
      console.log(`Message ${event.data.messageId} by ${event.data.role}`);
      break;
    case 'handoff.requested':
      console.log(`Handoff of conversation ${event.data.conversationId}`);
      break;
    default: // New types are added without notice: ignore those that you do not use.
  }
  console.log(`Processed ${event.id} ${event.type}`);
}
