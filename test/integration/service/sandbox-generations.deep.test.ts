import { describe } from 'vitest';
import { aPlace } from './place.ts';
import { interleaving } from './sandbox/interleaving/interleaving.ts';

const place = aPlace({ context: { lingerSeconds: 10, watchWindowSeconds: 1 } });

describe('the service with many sandboxes', () => interleaving(place, 5));
