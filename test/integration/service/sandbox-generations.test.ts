import { describe } from 'vitest';
import { aPlace, UNLIMITED } from './place.ts';
import { fastTime } from './sandbox/fast-time.ts';
import { interleaving } from './sandbox/interleaving/interleaving.ts';

/* Sandboxes of a service that runs the stack's own schedules. */
const place = aPlace({ context: { ...UNLIMITED, lingerSeconds: 10, watchWindowSeconds: 1 } });

describe('a sandbox', () => fastTime(place));
describe('the service with two sandboxes', () => interleaving(place, 1));
