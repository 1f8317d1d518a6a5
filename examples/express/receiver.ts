import {
  createMemoryStore,
  nodeHandler,
  type ReceivedEvent,
  VerificationError,
} from 'conversation-service-sdk/receiver';

/** Answers 204 to a signed event, and processes it afterwards, once. */
export const createReceiver = (secrets: readonly string[]) =>
  nodeHandler(
    {
      secrets,
      // Knows the events of this process only. In production use a table whose key is that of the store.
      store: createMemoryStore(),
      consumer: 'crm',
      onError: (error) =>
        console.error(error instanceof VerificationError ? `Refused: ${error.problem}` : error),
    },
    (event) => {
      // A restart loses it. In production await your job queue here instead (BullMQ, pg-boss, SQS).
      setImmediate(() => processEvent(event).catch(console.error));
    },
  );

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
