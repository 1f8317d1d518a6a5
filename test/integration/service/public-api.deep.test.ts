import { describe } from 'vitest';
import { readDocument } from '../../fuzz/document.ts';
import { aPlace } from './place.ts';
import { cursors } from './public-api/cursors.ts';
import { idempotency } from './public-api/idempotency.ts';
import { logs } from './public-api/logs.ts';
import { operations } from './public-api/operations.ts';
import { rateLimits } from './public-api/rate-limits.ts';
import { tenancy } from './public-api/tenancy.ts';

/* The same tests as public-api.test.ts with many more cases. */
const document = readDocument();
const place = aPlace({ variables: { LOG_LEVEL: 'DEBUG' } });

describe('a cursor', () =>
  cursors(place, { altered: 2_000, elsewhere: Number.POSITIVE_INFINITY, listed: 1_000 }));
describe('an idempotency key', () => idempotency(place, document, 100));
describe('within its rate limit', () => rateLimits(place, ['standard', 'sandbox']));
describe('every operation', () =>
  operations(place, document, { generated: 500, provocations: 1, hasBothDoors: false }));
describe('an organization', () => tenancy(place, document, { isWhole: true }));
describe('the logs', () => logs(place, document.operations, true));
