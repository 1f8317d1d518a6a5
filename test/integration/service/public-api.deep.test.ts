import { describe } from 'vitest';
import { readDocument } from '../../fuzz/document.ts';
import { aPlace } from './place.ts';
import { cursors } from './public-api/cursors.ts';
import { idempotency } from './public-api/idempotency.ts';
import { operations } from './public-api/operations.ts';
import { rateLimits } from './public-api/rate-limits.ts';

/* The same tests as public-api.test.ts with many more cases. */
const document = readDocument();
const place = aPlace();

describe('a cursor', () => cursors(place, { altered: 2_000, listed: 1_000 }));
describe('an idempotency key', () => idempotency(place, document, 100));
describe('within its rate limit', () => rateLimits(place, ['standard', 'sandbox']));
describe('every operation', () => operations(place, document, 500));
