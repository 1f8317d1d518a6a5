import { afterAll, beforeAll, describe } from 'vitest';
import { aPlace, UNLIMITED } from './place.ts';
import { network } from './sandbox/network/network.ts';
import { type Observer, startObserver } from './sandbox/network/observer.ts';

/* Sandboxes beside live organizations, with short waits between attempts, and every function observed. */
let observer: Observer;

beforeAll(async () => {
  observer = await startObserver();
});
afterAll(() => observer.stop());

const place = aPlace(() => ({
  context: {
    ...UNLIMITED,
    retryBaseSeconds: 0.2,
    retryCapSeconds: 0.5,
    attemptTimeoutSeconds: 3,
    watchWindowSeconds: 1,
  },
  variables: observer.variables,
}));

describe('the service with sandboxes', () => network(place, () => observer));
