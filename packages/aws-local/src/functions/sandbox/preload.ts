import type http from 'node:http';
import { registerHooks } from 'node:module';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { authorizationFromEnvironment, guard } from './authorization.ts';
import { send } from './channel.ts';

/*
 * Loaded into a sandbox before AWS's runtime client: replaces the client's native part, carries its HTTP call
 * over the channel, and checks the function's SDK calls against its role.
 */

// Also the native part: bundled or not, there must be one channel.
export { done, error, initializeClient, next } from './runtime-client.ts';

const INIT_ERROR_PATH = '/2018-06-01/runtime/init/error';

const hooks = registerHooks({
  resolve(specifier, context, nextResolve) {
    if (specifier !== './rapid-client.node') return nextResolve(specifier, context);
    // The runtime client loads it before the handler, whose imports need no hook.
    hooks.deregister();
    return nextResolve(import.meta.filename, context);
  },
});

const authorization = authorizationFromEnvironment(process.env, (asked, isAllowed) =>
  send({ type: 'permission', asked, isAllowed }),
);
// An import would load all of its exports: WebSocket alone takes 36 ms of processor time. Modules that import
// it later see the replaced function, because their exports are copied from this object then.
const client = process.getBuiltinModule('node:http');
const request = client.request;

function guardedRequest(...args: unknown[]): unknown {
  if (isInitError(args[0])) return reportInitError(args[1]);
  const call: http.ClientRequest = Reflect.apply(request, client, args);
  if (authorization) guard(call, authorization);
  return call;
}

Object.assign(client, { request: guardedRequest });

// Ctrl-C reaches the whole process group; only the host ends a sandbox, after the work in flight.
process.on('SIGINT', () => undefined);

function isInitError(options: unknown): boolean {
  return (
    typeof options === 'object' && options !== null && 'path' in options && options.path === INIT_ERROR_PATH
  );
}

/** Replaces the runtime client's request when a handler cannot be loaded. */
function reportInitError(onResponse: unknown): PassThrough {
  const call = new PassThrough();
  void text(call).then((body) => {
    send({ type: 'initError' }, body);
    if (typeof onResponse === 'function') onResponse(Readable.from([]));
  });
  return call;
}
