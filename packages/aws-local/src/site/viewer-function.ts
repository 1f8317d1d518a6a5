import { createContext, Script } from 'node:vm';
import * as z from 'zod';
import { LocalRunError } from '../errors.ts';

/**
 * Against one that never ends, and no measure: CloudFront counts parts of a millisecond of work, and this is
 * a clock on a wall, which goes on while a busy machine does something else.
 */
const TIMEOUT_MS = 3_000;

const Returned = z.object({ uri: z.string().startsWith('/') });

/**
 * A CloudFront function for viewer requests, run as it is: its code in a context that has nothing of Node.js.
 * @returns gives the path that is asked for instead of one; throws LocalRunError when the function gives
 * anything but a request
 */
export function viewerFunction(code: string): (request: { method: string; uri: string }) => string {
  const context = createContext({}, { codeGeneration: { strings: false, wasm: false } });
  new Script(code).runInContext(context, { timeout: TIMEOUT_MS });
  // As text in both directions, so that no host object gets in.
  const call = new Script('JSON.stringify(handler(JSON.parse(event)))');
  return (request) => {
    const viewed = { ...request, querystring: {}, headers: {}, cookies: {} };
    context.event = JSON.stringify({
      version: '1.0',
      context: { eventType: 'viewer-request' },
      request: viewed,
    });
    const text: unknown = call.runInContext(context, { timeout: TIMEOUT_MS });
    const returned = Returned.safeParse(typeof text === 'string' ? JSON.parse(text) : undefined);
    if (returned.success) return returned.data.uri;
    throw new LocalRunError(
      'The local run knows functions of CloudFront that return the request, and this one does not',
    );
  };
}
