/*
 * The modules that the functions may load, and what these reach. A new client, such as a mailer or an event
 * bus, needs an entry: what it reaches and, when that is the outside world, which file requires the permit.
 */

/** Files by path below functions/: a directory when it ends in a slash, everywhere when it is empty. */
type Files = string;

interface Allowance {
  modules: readonly string[];
  in: readonly Files[];
  reaches: 'nothing' | "the service's own data" | 'whom the operator named' | 'the outside world';
  /**
   * The only file that others use for it, and the functions that send, which must be preceded by a required
   * permit.
   */
  permit?: { in: Files; before: readonly string[] };
}

export const ALLOWED: readonly Allowance[] = [
  {
    modules: ['@middy/core', 'ipaddr.js', 'node:crypto', 'node:timers/promises', 'uuid', 'zod/mini'],
    in: [''],
    reaches: 'nothing',
  },
  // Files of the function's own bundle.
  { modules: ['node:fs', 'node:zlib'], in: ['api/documentation/'], reaches: 'nothing' },
  // Compression in memory.
  { modules: ['node:zlib'], in: ['knowledge/source-checks.ts'], reaches: 'nothing' },
  { modules: ['node:buffer'], in: ['http/validation.ts'], reaches: 'nothing' },
  // Credentials from the function's environment.
  {
    modules: ['@aws-sdk/credential-provider-env'],
    in: ['aws/sdk-parts.ts', 'aws/clients.ts'],
    reaches: 'nothing',
  },
  // Requests of the SDK, whose clients determine the host.
  {
    modules: ['node:http', 'node:https'],
    in: ['aws/sdk-parts.ts'],
    reaches: "the service's own data",
  },
  {
    modules: ['@aws-sdk/client-dynamodb'],
    in: ['aws/table.ts', 'aws/clients.ts'],
    reaches: "the service's own data",
  },
  // Counted usage is billed, so it counts as an effect outside (docs/specification.md, Sandbox rules).
  {
    modules: [],
    in: ['events/usage.ts'],
    reaches: 'the outside world',
    permit: { in: 'events/usage.ts', before: ['committer'] },
  },
  { modules: ['@aws-sdk/util-dynamodb'], in: ['aws/table.ts'], reaches: 'nothing' },
  {
    modules: ['@aws-sdk/client-dynamodb-streams'],
    in: ['aws/clients.ts', 'delivery/outbox-readers.ts'],
    reaches: "the service's own data",
  },
  {
    modules: ['@aws-sdk/client-sqs'],
    in: ['aws/clients.ts', 'delivery/outbox-readers.ts', 'delivery/queues.ts'],
    reaches: "the service's own data",
  },
  // Events to the service's own workers: the stack owns the bus and its permissions.
  {
    modules: ['@aws-sdk/client-eventbridge'],
    in: ['events/event-bus.ts'],
    reaches: "the service's own data",
  },
  { modules: ['@smithy/node-http-handler'], in: ['aws/clients.ts'], reaches: "the service's own data" },
  {
    modules: ['@aws-sdk/client-secrets-manager'],
    in: ['aws/keyrings.ts'],
    reaches: "the service's own data",
  },
  // The users of an organization, from the stack's user pool.
  {
    modules: ['@aws-sdk/client-cognito-identity-provider'],
    in: ['tenancy/directory.ts'],
    reaches: "the service's own data",
  },
  {
    modules: ['@aws-sdk/client-sesv2'],
    in: ['aws/clients.ts', 'notices/notify.ts'],
    reaches: 'the outside world',
    permit: { in: 'notices/notify.ts', before: ['SendEmailCommand'] },
  },
  { modules: ['leven'], in: ['http/validation.ts'], reaches: 'nothing' },
  // The issuer of sessions; its requests contain nothing of an organization.
  { modules: ['jose'], in: ['tenancy/sessions.ts'], reaches: 'whom the operator named' },
  { modules: ['node:stream/consumers'], in: ['tenancy/sessions.ts'], reaches: 'nothing' },
  // The function that fetches what customers name.
  {
    modules: ['@aws-sdk/client-lambda'],
    in: ['aws/clients.ts', 'knowledge/extraction.ts'],
    reaches: 'the outside world',
    permit: { in: 'knowledge/extraction.ts', before: ['InvokeCommand'] },
  },
  // Parsers, which only transform text.
  {
    modules: [
      'csv-parse/sync',
      'entities',
      'html-encoding-sniffer',
      'htmlparser2',
      'whatwg-mimetype',
      // It can open files too, but only `archive.ts` may load it.
      'yauzl',
    ],
    in: ['knowledge/'],
    reaches: 'nothing',
  },
  {
    modules: ['node:zlib'],
    in: ['delivery/outbound/', 'knowledge/', 'api/documentation/'],
    reaches: 'nothing',
  },
  {
    modules: ['node:dns/promises', 'node:https', 'node:net'],
    in: ['delivery/outbound/'],
    reaches: 'the outside world',
    permit: { in: 'delivery/outbound/client.ts', before: ['exchange', 'retrieve'] },
  },
];

/** Functions that make a client which sends to the outside world. */
export const OUTBOUND_CLIENTS: readonly string[] = ['receiverClient', 'contentClient'];

/** The names that files outside delivery/outbound may import from it. */
export const TAKEN_FROM_OUTBOUND: readonly { from: Files; name: string; by: readonly Files[] }[] = [
  ...OUTBOUND_CLIENTS.map((name) => ({ from: 'delivery/outbound/client.ts', name, by: ['workers/'] })),
  // A pure function, which returns the headers that would be sent.
  { from: 'delivery/outbound/exchange.ts', name: 'completeHeaders', by: ['delivery/webhook-sender.ts'] },
];
export const OUTBOUND: Files = 'delivery/outbound/';

/** Global names that reach outside, or load modules that do, and the files that may use them. */
export const GLOBALS: Readonly<Record<string, readonly Files[]>> = {
  fetch: [],
  WebSocket: [],
  WebSocketStream: [],
  EventSource: [],
  XMLHttpRequest: [],
  navigator: [],
  Worker: [],
  WebAssembly: [],
  // `process` can load modules without an import. Log lines go through their registry, and metrics through
  // the list of their names, so nothing else prints.
  // To silence the parsers.
  console: ['workers/extract-content.ts'],
  process: [
    ...['aws/sdk-parts.ts', 'aws/config.ts', 'aws/logger.ts', 'aws/metrics.ts'],
    // The issuer of sessions, as above.
    'tenancy/sessions.ts',
  ],
  globalThis: [],
  global: [],
  require: [],
  module: [],
  eval: [],
  Function: [],
  // The gate recognizes its own permits with these.
  WeakSet: ['tenancy/gate.ts'],
  createPermit: ['tenancy/gate.ts'],
};

export const isIn = (path: string, files: readonly Files[]): boolean =>
  files.some((place) => (place === '' || place.endsWith('/') ? path.startsWith(place) : path === place));
