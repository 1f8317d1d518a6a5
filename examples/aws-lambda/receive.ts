import { saveEvent } from './inbox.ts';
import { createReceiver, readSecrets } from './receiver.ts';

/** The function behind the URL. */
export const handler = createReceiver(readSecrets(), saveEvent);
