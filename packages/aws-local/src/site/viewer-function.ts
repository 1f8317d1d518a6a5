import { createContext, Script } from 'node:vm';
import * as z from 'zod';
import { LocalRunError } from '../errors.ts';

/**
 * Only stops a function that never ends: CloudFront limits compute time to less than a millisecond, but this
 * is wall-clock time on a busy machine.
 */
const MAX_TIME_MS = 3_000;

const Returned = z.object({ uri: z.string().startsWith('/') });

/**
 * Runs a CloudFront viewer-request function in a context without Node.js.
 * @param maxTimeMs of a call, in milliseconds
 * @returns maps a requested path; throws LocalRunError when the function returns anything but a request
 */
export function viewerFunction(
  code: string,
  maxTimeMs = MAX_TIME_MS,
): (request: { method: string; uri: string }) => string {
  const context = createContext({}, { codeGeneration: { strings: false, wasm: false } });
  new Script(code).runInContext(context, { timeout: maxTimeMs });
  // Passed as text, so that no host object gets in.
  const call = new Script('JSON.stringify(handler(JSON.parse(event)))');
  return (request) => {
    const viewed = { ...request, querystring: {}, headers: {}, cookies: {} };
    context.event = JSON.stringify({
      version: '1.0',
      context: { eventType: 'viewer-request' },
      request: viewed,
    });
    const text: unknown = call.runInContext(context, { timeout: maxTimeMs });
    const returned = Returned.safeParse(typeof text === 'string' ? JSON.parse(text) : undefined);
    if (returned.success) return returned.data.uri;
    throw new LocalRunError(
      'The local run knows functions of CloudFront that return the request, and this one does not',
    );
  };
}
