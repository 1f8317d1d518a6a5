/*
 * What the functions may load, and thereby reach. Everything that leads out of a function stands here with
 * its reason: who adds a mailer, an event bus, a usage meter or any other client adds a line, says what it
 * reaches, and, when that is the outside world, which file demands the permit.
 */

/**
 * Which files, from the directory of the functions: a directory when it ends in a slash, everywhere when it
 * is empty.
 */
type Files = string;

interface Allowance {
  modules: readonly string[];
  in: readonly Files[];
  reaches: 'nothing' | "the service's own data" | 'whom the operator named' | 'the outside world';
  /**
   * The one file by which others get there, and the functions by which it sends: never before it has required
   * a permit of the gate.
   */
  permit?: { in: Files; before: readonly string[] };
}

export const ALLOWED: readonly Allowance[] = [
  {
    modules: ['@middy/core', 'ipaddr.js', 'node:crypto', 'node:timers/promises', 'uuid', 'zod/mini'],
    in: [''],
    reaches: 'nothing',
  },
  // What is logged goes through the registry of the lines, whoever logs it, and what is measured through the
  // names of the metrics.
  { modules: ['@aws-lambda-powertools/logger'], in: ['platform/logger.ts'], reaches: 'nothing' },
  { modules: ['@aws-lambda-powertools/metrics'], in: ['platform/metrics.ts'], reaches: 'nothing' },
  // Of its own bundle.
  { modules: ['node:fs', 'node:zlib'], in: ['documentation/'], reaches: 'nothing' },
  // Of texts: what is compressed in memory stays there.
  { modules: ['node:zlib'], in: ['store/source-checks.ts'], reaches: 'nothing' },
  // Read from the environment of the function.
  { modules: ['@aws-sdk/credential-provider-env'], in: ['platform/sdk-substitutes.ts'], reaches: 'nothing' },
  {
    modules: ['@aws-sdk/client-dynamodb', '@aws-sdk/lib-dynamodb'],
    in: ['platform/clients/', 'store/'],
    reaches: "the service's own data",
  },
  // What is counted there is billed, so that it counts as done to somebody outside (public-api.md, Sandbox
  // rules).
  {
    modules: ['@aws-sdk/lib-dynamodb'],
    in: ['store/usage.ts'],
    reaches: 'the outside world',
    permit: { in: 'store/usage.ts', before: ['committer'] },
  },
  { modules: ['@aws-sdk/util-dynamodb'], in: ['store/'], reaches: 'nothing' },
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
  // To the service's own workers: a bus, and who may put on it, are the stack's.
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
  // Who an organization's people are, by the pool that the stack has for them.
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
  // The issuer of sessions, asked by whoever signs in: nothing of an organization is in the question.
  { modules: ['jose'], in: ['platform/sessions.ts'], reaches: 'whom the operator named' },
  // Another process of its own bundle, which may read that alone.
  {
    modules: ['node:child_process', 'node:url'],
    in: ['knowledge/extractor.ts'],
    reaches: 'nothing',
  },
  // Parsers: from text to text.
  {
    modules: [
      '@mozilla/readability',
      'csv-parse/sync',
      'feedsmith',
      'html-encoding-sniffer',
      'linkedom',
      'read-excel-file/universal',
      'whatwg-mimetype',
      // It opens files too, which only `zip.ts` could ask it to.
      'yauzl',
    ],
    in: ['knowledge/'],
    reaches: 'nothing',
  },
  // Takes off what a page is encoded with.
  { modules: ['node:util'], in: ['platform/outbound/'], reaches: 'nothing' },
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

/** What is taken from a room that leads out, by whom. Nothing else of it is to be had outside. */
export const TAKEN_FROM_OUTBOUND: readonly { from: Files; name: string; by: readonly Files[] }[] = [
  { from: 'platform/outbound/client.ts', name: 'outboundClient', by: ['workers/'] },
  // A pure function: what would be written.
  { from: 'platform/outbound/exchange.ts', name: 'completeHeaders', by: ['platform/webhook-sender.ts'] },
];
export const OUTBOUND: Files = 'platform/outbound/';

/** Global names that lead out, or to modules that do, and where they may stand. */
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
  // By the process, modules are had without an import.
  // Nor is anything printed but by the logger.
  console: [],
  process: ['platform/config.ts', 'knowledge/reader.ts'],
  globalThis: [],
  global: [],
  require: [],
  module: [],
  eval: [],
  Function: [],
  // With these the gate tells its permits from others.
  WeakSet: ['domain/gate.ts'],
  createPermit: ['domain/gate.ts'],
};

export const isIn = (path: string, files: readonly Files[]): boolean =>
  files.some((place) => (place === '' || place.endsWith('/') ? path.startsWith(place) : path === place));
