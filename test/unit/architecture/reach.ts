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
  { modules: ['node:fs', 'node:zlib'], in: ['documentation/'], reaches: 'nothing' },
  // Compression in memory.
  { modules: ['node:zlib'], in: ['store/source-checks.ts'], reaches: 'nothing' },
  // Credentials from the function's environment.
  {
    modules: ['@aws-sdk/credential-provider-env'],
    in: ['platform/sdk-substitutes.ts', 'platform/clients/'],
    reaches: 'nothing',
  },
  // Requests of the SDK, whose clients determine the host.
  {
    modules: ['node:http', 'node:https'],
    in: ['platform/clients/request-handler.ts'],
    reaches: "the service's own data",
  },
  {
    modules: ['@aws-sdk/client-dynamodb'],
    in: ['aws/table.ts', 'platform/clients/'],
    reaches: "the service's own data",
  },
  // Counted usage is billed, so it counts as an effect outside (docs/specification.md, Sandbox rules).
  {
    modules: [],
    in: ['store/usage.ts'],
    reaches: 'the outside world',
    permit: { in: 'store/usage.ts', before: ['committer'] },
  },
  { modules: ['@aws-sdk/util-dynamodb'], in: ['aws/table.ts'], reaches: 'nothing' },
  {
    modules: ['@aws-sdk/client-dynamodb-streams'],
    in: ['platform/clients/', 'store/outbox.ts'],
    reaches: "the service's own data",
  },
  {
    modules: ['@aws-sdk/client-sqs'],
    in: ['platform/clients/', 'platform/queues.ts'],
    reaches: "the service's own data",
  },
  // Events to the service's own workers: the stack owns the bus and its permissions.
  {
    modules: ['@aws-sdk/client-eventbridge'],
    in: ['platform/event-bus.ts'],
    reaches: "the service's own data",
  },
  { modules: ['@smithy/node-http-handler'], in: ['platform/clients/'], reaches: "the service's own data" },
  {
    modules: ['@aws-sdk/client-secrets-manager'],
    in: ['platform/keyrings.ts'],
    reaches: "the service's own data",
  },
  // The users of an organization, from the stack's user pool.
  {
    modules: ['@aws-sdk/client-cognito-identity-provider'],
    in: ['platform/directory.ts'],
    reaches: "the service's own data",
  },
  {
    modules: ['@aws-sdk/client-sesv2'],
    in: ['platform/clients/', 'platform/mailer.ts'],
    reaches: 'the outside world',
    permit: { in: 'platform/mailer.ts', before: ['SendEmailCommand'] },
  },
  { modules: ['leven'], in: ['platform/pipeline/validation.ts'], reaches: 'nothing' },
  // The issuer of sessions; its requests contain nothing of an organization.
  { modules: ['jose'], in: ['platform/sessions.ts'], reaches: 'whom the operator named' },
  // A child process of the function's own bundle, which can only read its input.
  {
    modules: ['node:child_process', 'node:url'],
    in: ['knowledge/source-content.ts'],
    reaches: 'nothing',
  },
  // Parsers, which only transform text.
  {
    modules: [
      '@mozilla/readability',
      'csv-parse/sync',
      'feedsmith',
      'html-encoding-sniffer',
      'linkedom',
      'read-excel-file/universal',
      'whatwg-mimetype',
      // It can open files too, but only `zip.ts` may load it.
      'yauzl',
    ],
    in: ['knowledge/'],
    reaches: 'nothing',
  },
  {
    modules: ['node:zlib'],
    in: ['platform/outbound/', 'knowledge/', 'documentation/'],
    reaches: 'nothing',
  },
  {
    modules: ['node:dns/promises', 'node:https', 'node:net'],
    in: ['platform/outbound/'],
    reaches: 'the outside world',
    permit: { in: 'platform/outbound/client.ts', before: ['exchange', 'retrieve'] },
  },
];

/** Functions that make a client which sends to the outside world. */
export const OUTBOUND_CLIENTS: readonly string[] = ['receiverClient', 'contentClient'];

/** The names that files outside platform/outbound may import from it. */
export const TAKEN_FROM_OUTBOUND: readonly { from: Files; name: string; by: readonly Files[] }[] = [
  ...OUTBOUND_CLIENTS.map((name) => ({ from: 'platform/outbound/client.ts', name, by: ['workers/'] })),
  // A pure function, which returns the headers that would be sent.
  { from: 'platform/outbound/exchange.ts', name: 'completeHeaders', by: ['platform/webhook-sender.ts'] },
];
export const OUTBOUND: Files = 'platform/outbound/';

/** Global names that reach outside, or load modules that do, and the files that may use them. */
export const GLOBALS: Readonly<Record<string, readonly Files[]>> = {
  // The issuer of sessions, as above.
  fetch: ['platform/issuer.ts'],
  WebSocket: [],
  WebSocketStream: [],
  EventSource: [],
  XMLHttpRequest: [],
  navigator: [],
  Worker: [],
  WebAssembly: [],
  // `process` can load modules without an import. Log lines go through their registry, and metrics through
  // the list of their names, so nothing else prints.
  console: [],
  process: [
    'platform/clients/request-handler.ts',
    'platform/config.ts',
    'platform/logger.ts',
    'platform/metrics.ts',
    'knowledge/reader.ts',
  ],
  globalThis: [],
  global: [],
  require: [],
  module: [],
  eval: [],
  Function: [],
  // The gate recognizes its own permits with these.
  WeakSet: ['domain/gate.ts'],
  createPermit: ['domain/gate.ts'],
};

export const isIn = (path: string, files: readonly Files[]): boolean =>
  files.some((place) => (place === '' || place.endsWith('/') ? path.startsWith(place) : path === place));
