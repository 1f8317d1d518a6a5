import { flushCompileCache } from 'node:module';
import { receive, send } from './channel.ts';

/*
 * Stands in for the native part of AWS's runtime client (`rapid-client.node`, curl behind C++), with its
 * interface: the client above it, which loads the handler and drives it, is AWS's own.
 */

let requests = 0;

export function initializeClient(): void {
  // The native client opens its HTTP connection here; the channel is open already.
}

/** The next invocation, as the Runtime API answers `GET /runtime/invocation/next`. */
export async function next(): Promise<{ bodyJson: string; headers: Record<string, string> }> {
  requests += 1;
  if (requests === 1) send({ type: 'ready' });
  // A sandbox mostly ends by a signal, which would lose what it compiled; the next one of the function starts
  // from it. By now that is also what only an invocation calls.
  if (requests === 2) flushCompileCache();
  const { header, body } = await receive();
  return {
    bodyJson: body,
    headers: {
      'lambda-runtime-aws-request-id': header.requestId,
      'lambda-runtime-deadline-ms': String(header.deadline),
      'lambda-runtime-invoked-function-arn': header.functionArn,
      'lambda-runtime-trace-id': header.traceId,
    },
  };
}

export function done(requestId: string, body: string): void {
  send({ type: 'response', requestId }, body);
}

export function error(requestId: string, body: string): void {
  send({ type: 'error', requestId }, body);
}
