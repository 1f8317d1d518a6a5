import { NodeHttpHandler } from '@smithy/node-http-handler';

/**
 * What all SDK clients are made with; each is made once for an execution environment. Timeouts are explicit, because the SDK has
 * none: a call that hangs would otherwise hold a function until its own timeout, with nothing said. Each client has a file of its
 * own, because a function loads what its files name.
 */
export const terms = () => ({
  maxAttempts: 3,
  requestHandler: new NodeHttpHandler({
    connectionTimeout: 1_000,
    requestTimeout: 3_000,
    throwOnRequestTimeout: true,
    httpAgent: { keepAlive: true, maxSockets: 64 },
    httpsAgent: { keepAlive: true, maxSockets: 64 },
  }),
});
