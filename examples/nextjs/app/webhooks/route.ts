import { createMemoryStore, fetchHandler, VerificationError } from 'conversation-service-sdk/receiver';
import { after } from 'next/server';
import { processEvent } from '../../events.ts';
import { readSecrets } from '../../secrets.ts';

/** Answers 204 to a signed event, and processes it afterwards, once. */
export const POST = fetchHandler(
  {
    secrets: readSecrets(),
    // Knows the events of this process only. In production use a table whose key is that of the store.
    store: createMemoryStore(),
    consumer: 'crm',
    onError: (error) =>
      console.error(error instanceof VerificationError ? `Refused: ${error.problem}` : error),
  },
  // A restart loses it. In production await your job queue here instead (Inngest, pg-boss, SQS).
  (event) => after(() => processEvent(event)),
);
