import { describe } from 'vitest';
import { aPlace, UNLIMITED } from './place.ts';
import { parity } from './sandbox/parity.ts';

/* A sandbox beside its live organization, with short waits between attempts for both. */
const place = aPlace({
  context: {
    ...UNLIMITED,
    retryBaseSeconds: 0.2,
    retryCapSeconds: 0.5,
    attemptTimeoutSeconds: 3,
    watchWindowSeconds: 1,
  },
});

describe('a sandbox', () => parity(place));
