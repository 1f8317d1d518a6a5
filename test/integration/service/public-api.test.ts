import { describe } from 'vitest';
import { readDocument } from '../../fuzz/document.ts';
import { cursors } from './public-api/cursors.ts';
import { idempotency } from './public-api/idempotency.ts';
import { logs } from './public-api/logs.ts';
import { operations } from './public-api/operations.ts';
import { aPlace } from './public-api/place.ts';
import { rateLimits } from './public-api/rate-limits.ts';
import { tenancy } from './public-api/tenancy.ts';

/*
 * What holds for the whole public API, derived from the route table and from the OpenAPI document, so that nothing new escapes.
 */
const document = readDocument();
const place = aPlace(document);

describe('an organization', () => tenancy(place, document));
describe('an idempotency key', () => idempotency(place, document));
describe('a cursor', () => cursors(place));
describe('a rate limit', () => rateLimits(place));
describe('every operation', () => operations(place, document));
describe('the logs', () => logs(place, document));
