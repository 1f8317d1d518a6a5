/*
 * What the functions may load, and thereby reach. Everything that leads out of a function stands here with its reason: who adds a mailer, an event
 * bus, a usage meter or any other client adds a line, says what it reaches, and, when that is the outside world, which file demands the permit.
 */

/** Which files, from the directory of the functions: a directory when it ends in a slash, everywhere when it is empty. */
type Files = string;

interface Allowance {
  modules: readonly string[];
  in: readonly Files[];
  reaches: 'nothing' | "the service's own data" | 'whom the operator named' | 'the outside world';
  /** The one file by which others get there, and the function by which it sends: never before it has required a permit of the gate. */
  permit?: { in: Files; before: string };
}

export const ALLOWED: readonly Allowance[] = [
  {
    modules: [
      '@aws-lambda-powertools/logger',
      '@aws-lambda-powertools/metrics',
      '@middy/core',
      'ipaddr.js',
      'node:crypto',
      'node:timers/promises',
      'uuid',
      'zod/mini',
    ],
    in: [''],
    reaches: 'nothing',
  },
  // Of its own bundle.
  { modules: ['node:fs'], in: ['documentation/'], reaches: 'nothing' },
  // Read from the environment of the function.
  { modules: ['@aws-sdk/credential-provider-env'], in: ['platform/credentials.ts'], reaches: 'nothing' },
  {
    modules: ['@aws-sdk/client-dynamodb', '@aws-sdk/lib-dynamodb'],
    in: ['platform/clients/', 'store/'],
    reaches: "the service's own data",
  },
  { modules: ['@aws-sdk/util-dynamodb'], in: ['store/'], reaches: 'nothing' },
  {
    modules: ['@aws-sdk/client-dynamodb-streams'],
    in: ['platform/clients/', 'store/stream.ts'],
    reaches: "the service's own data",
  },
  {
    modules: ['@aws-sdk/client-sqs'],
    in: ['platform/clients/', 'platform/delivery-queues.ts', 'workers/dead-fan-outs.ts'],
    reaches: "the service's own data",
  },
  // To the service's own workers: a bus, and who may put on it, are the stack's.
  {
    modules: ['@aws-sdk/client-eventbridge'],
    in: ['platform/clients/', 'platform/event-bus.ts'],
    reaches: "the service's own data",
  },
  {
    modules: ['@aws-sdk/client-secrets-manager', '@smithy/node-http-handler'],
    in: ['platform/clients/'],
    reaches: "the service's own data",
  },
  // The keys of the issuer of sessions, asked for by whoever signs in: nothing of an organization is in the question.
  {
    modules: ['jose'],
    in: ['platform/issuer-keys.ts', 'platform/sessions.ts'],
    reaches: 'whom the operator named',
  },
  {
    modules: ['node:dns/promises', 'node:https', 'node:net'],
    in: ['platform/outbound/'],
    reaches: 'the outside world',
    permit: { in: 'platform/outbound/client.ts', before: 'exchange' },
  },
];

/** What is taken from a room that leads out, by whom. Nothing else of it is to be had outside. */
export const TAKEN_FROM_OUTBOUND: readonly { from: Files; name: string; by: readonly Files[] }[] = [
  { from: 'platform/outbound/client.ts', name: 'outboundClient', by: ['workers/'] },
  // A pure function: what would be written.
  { from: 'platform/outbound/exchange.ts', name: 'headersOnTheWire', by: ['platform/simulated-receiver.ts'] },
];
export const OUTBOUND: Files = 'platform/outbound/';

/** Global names that lead out, or to modules that do, and where they may stand. */
export const GLOBALS: Readonly<Record<string, readonly Files[]>> = {
  // The issuer's keys, as above.
  fetch: ['platform/issuer-keys.ts'],
  WebSocket: [],
  WebSocketStream: [],
  EventSource: [],
  XMLHttpRequest: [],
  navigator: [],
  Worker: [],
  WebAssembly: [],
  // By the process, modules are had without an import.
  process: ['platform/config.ts'],
  globalThis: [],
  global: [],
  require: [],
  module: [],
  eval: [],
  Function: [],
  // With these the gate tells its permits from others.
  WeakSet: ['domain/gate.ts'],
  permitFor: ['domain/gate.ts'],
};

export const isIn = (path: string, files: readonly Files[]): boolean =>
  files.some((place) => (place === '' || place.endsWith('/') ? path.startsWith(place) : path === place));
