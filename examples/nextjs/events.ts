import type { ReceivedEvent } from 'conversation-service-sdk/receiver';

export async function processEvent(event: ReceivedEvent): Promise<void> {
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
