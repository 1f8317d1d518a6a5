import { describe } from 'vitest';
import { readDocument } from '../../fuzz/document.ts';
import { aPlace } from './public-api/place.ts';
import { sandboxBounds } from './requests/sandbox-bounds.ts';
import { sandboxKeys } from './requests/sandbox-keys.ts';
import { sandboxProvisioning } from './requests/sandbox-provisioning.ts';
import { sandboxReset } from './requests/sandbox-reset.ts';

/*
 * What requests do that make, use and reset sandboxes: each test with organizations of its own.
 */
const document = readDocument();
const place = aPlace(document);

describe('a sandbox', () => sandboxProvisioning(place));
describe('a key of a sandbox', () => sandboxKeys(place));
describe('a request in a sandbox', () => sandboxBounds(place, document));
describe('a reset of a sandbox', () => sandboxReset(place));
