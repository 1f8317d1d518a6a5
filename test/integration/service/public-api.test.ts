import { afterAll, describe, expect } from 'vitest';
import { readDocument } from '../../fuzz/document.ts';
import { linesWithCredentials } from '../../support/canaries.ts';
import { casesOf } from '../../support/cases.ts';
import { requestedChecks } from './background/source-checks.ts';
import { aPlace } from './place.ts';
import { cursors } from './public-api/cursors.ts';
import { idempotency } from './public-api/idempotency.ts';
import { logs } from './public-api/logs.ts';
import { operations } from './public-api/operations.ts';
import { rateLimits } from './public-api/rate-limits.ts';
import { retryNow } from './public-api/retry-now.ts';
import { tenancy } from './public-api/tenancy.ts';
import { sandboxBounds } from './requests/sandbox-bounds.ts';
import { sandboxKeys } from './requests/sandbox-keys.ts';
import { sandboxProvisioning } from './requests/sandbox-provisioning.ts';
import { sandboxReset } from './requests/sandbox-reset.ts';
import { fastTime } from './sandbox/fast-time.ts';

/*
 * Properties of the whole public API, derived from the route table and the OpenAPI document so that they
 * cover every new route, and the life of sandboxes, with the stack's own schedules. The functions log at
 * level DEBUG.
 */
const document = readDocument();
const place = aPlace({ variables: { LOG_LEVEL: 'DEBUG' } });

afterAll(() => expect(linesWithCredentials(place.log().map(({ text }) => text)).slice(0, 5)).toEqual([]));

describe('an organization', () => tenancy(place, document, { isWhole: casesOf(0, 1) > 0 }));
describe('a requested retry', () => retryNow(place));
describe('an idempotency key', () => idempotency(place, document, casesOf(8, 25)));
// Beside each other, because they mostly wait: for the next minute's budget, and for simulated receivers.
describe.concurrent('a caller', () => {
  describe('with a cursor', { concurrent: false }, () =>
    cursors(place, {
      altered: casesOf(100, 300),
      elsewhere: casesOf(100, Number.POSITIVE_INFINITY),
      listed: casesOf(50, 300),
    }),
  );
});
describe.concurrent('a caller', () => {
  describe('within its rate limit', { concurrent: false }, () => rateLimits(place, []));
});
describe.concurrent('a delivery in a sandbox', () => fastTime(place));
describe('a check', () => requestedChecks(place));
describe('every operation', () =>
  operations(place, document, {
    generated: 0,
    provocations: casesOf(1, Number.POSITIVE_INFINITY),
    hasBothDoors: casesOf(0, 1) > 0,
  }));
describe('a sandbox', () => sandboxProvisioning(place));
describe('a key of a sandbox', () => sandboxKeys(place));
describe('a request in a sandbox', () => sandboxBounds(place, document));
describe('a reset of a sandbox', () => sandboxReset(place));
// Operations of sessions and of keys share their functions.
const ofFunctions = document.operations.filter(({ id, firstId }) => id === firstId);
describe('the logs', () => logs(place, ofFunctions, casesOf(0, 1) > 0));
