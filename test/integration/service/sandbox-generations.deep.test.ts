import { describe } from 'vitest';
import { aPlace, UNLIMITED } from './place.ts';
import { interleaving } from './sandbox/interleaving/interleaving.ts';

const place = aPlace({ context: { ...UNLIMITED, lingerSeconds: 10, watchWindowSeconds: 1 } });

describe('the service with many sandboxes', () => interleaving(place, 5));
