import { describe } from 'vitest';
import { aPlace, UNLIMITED } from './place.ts';
import { fastTime } from './sandbox/fast-time.ts';
import { interleaving } from './sandbox/interleaving/interleaving.ts';

/*
 * Sandboxes of a service with the schedule that a deployment has by itself.
 */
const place = aPlace({ context: { ...UNLIMITED, lingerSeconds: 10, watchWindowSeconds: 1 } });

describe('a sandbox', () => fastTime(place));
describe('the service with many of them', () => interleaving(place, 1));
