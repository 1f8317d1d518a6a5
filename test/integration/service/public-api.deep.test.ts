import { describe } from 'vitest';
import { readDocument } from '../../fuzz/document.ts';
import { aPlace } from './place.ts';
import { cursors } from './public-api/cursors.ts';
import { idempotency } from './public-api/idempotency.ts';

/*
 * What the tests of the public API show for some, shown for very many.
 */
const document = readDocument();
const place = aPlace();

describe('a cursor', () => cursors(place, { altered: 2_000, listed: 1_000 }));
describe('an idempotency key', () => idempotency(place, document, 100));
