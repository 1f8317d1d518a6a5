import { flushCompileCache } from 'node:module';
import { receive, send } from './channel.ts';

/*
 * Replaces the native part of AWS's runtime client (`rapid-client.node`, curl behind C++) with the same
 * interface; the client that loads and runs the handler is AWS's own.
 */

let requests = 0;

export function initializeClient(): void {
  // The native client opens its HTTP connection here; the channel is already open.
}

/** The next invocation, in the form of `GET /runtime/invocation/next`. */
export async function next(): Promise<{ bodyJson: string; headers: Record<string, string> }> {
  requests += 1;
  if (requests === 1) send({ type: 'ready' });
  // Most sandboxes end by a signal, which would lose compiled code. By now the cache also has what only an
  // invocation calls.
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
