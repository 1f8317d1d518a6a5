import { readFileSync } from 'node:fs';
import { gatewayHandler } from '../../http/lifecycle.ts';
import { refusals } from '../../http/problem.ts';

/** Response headers by path, written beside the code with the bundle. */
const headers: Record<string, Record<string, string>> = JSON.parse(
  readFileSync(new URL('./methods.json', import.meta.url), 'utf8'),
);

/**
 * Answers a method that a path does not have with 405 and `Allow` (RFC 9110, 15.5.6), for any content type: a
 * mock of the gateway rejects those that it has no template for.
 */
export const handler = gatewayHandler({ name: 'method-not-allowed' }, async ({ resource }) =>
  refusals.noMethod(headers[resource] ?? {}),
);
