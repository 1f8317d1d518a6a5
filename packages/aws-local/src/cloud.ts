import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { reachEngine } from './engine-errors.ts';
import { openCheckpoints } from './engines/checkpoints.ts';
import { startEngines, startUpkeep } from './engines/engines.ts';
import { LocalRunError } from './errors.ts';
import { SandboxCapacity } from './functions/capacity.ts';
import {
  createFunctions,
  defineFunctions,
  type FunctionRole,
  type Functions,
  type UsedPermission,
  unqualified,
} from './functions/functions.ts';
import { type MappingState, startLambdaService } from './functions/lambda-service.ts';
import type { LocalFunction } from './functions/runtime.ts';
import { redirectPages } from './gateway/redirects.ts';
import { compileRestApi, defineRestApi } from './gateway/rest-api.ts';
import { type AnswerUnreadable, type Gateway, type Pages, startGateway } from './gateway/server.ts';
import type { Identity } from './identity/identity.ts';
import { mailPages } from './mail/mail-pages.ts';
import { defineNamed, provisionQueues, provisionTables, provisionTopics } from './provision/provision.ts';
import { type Endpoints, serviceEnvironment } from './service-environment.ts';
import { startServices } from './services.ts';
import { siteOf } from './site/site.ts';
import { sitePages } from './site/site-pages.ts';
import { type EventSourceMapping, eventSourceMappings, shareOf, startMapping } from './sources/mappings.ts';
import { readByAll } from './sources/readers.ts';
import { startRules } from './sources/rules.ts';
import type { Source } from './sources/source.ts';
import { References } from './template/references.ts';
import { loadTemplate, type Template } from './template/template.ts';

/**
 * Sandboxes of all functions: at 41 MiB each plus 450 MiB for the rest under full load, the run stays below
 * 1.6 GiB. With 12, calls to all routes in turn spent a third of their time on replacing sandboxes.
 */
const MAX_SANDBOXES = 28;
const END_IDLE_EVERY_MS = 10_000;
/** Time for work in progress when the run stops. */
const STOP_GRACE_MS = 1_500;

export interface CloudOptions {
  assembly: string;
  /** Kept across restarts. */
  directory: string;
  /** Parent directory of `mailbox`; default: `directory`. */
  mailDirectory?: string;
  /** Compiled function code, which runs may share; default: inside `directory`. */
  compileCache?: string;
  /** 0 for any free port. */
  port: number;
  /** Releases a held port right before the gateway listens on it. */
  releasePort?: () => Promise<void>;
  /** PEM file of a certificate authority that functions trust besides the public ones. */
  caFile?: string;
  /** Added to the variables of every function. */
  environment?: Readonly<Record<string, string>>;
  /** Targets of paths outside the stage, such as `/docs` to `/prod/docs`. */
  redirects?: Readonly<Record<string, string>>;
  /** Answers a request that is not HTTP, or whose headers are too large; by default like AWS. */
  unreadable?: AnswerUnreadable;
  /** Node.js for the sandboxes; default: the current binary. */
  nodeBinary?: string;
  /** For all functions together; the default suits a small machine. */
  maxSandboxes?: number;
  /** Replaces the embedded DynamoDB. */
  dynamodbEndpoint?: string;
  /** Replaces the embedded SQS. */
  sqsEndpoint?: string;
  onLog?: (line: { source: string; text: string }) => void;
  /** Called once per process for each action of a function on a resource. */
  onPermission?: (used: UsedPermission) => void;
  /**
   * If false, calls that a role does not allow are sent and reported as refused: for tests, and to find out
   * whether a role causes a failure. Default: true.
   */
  rolesEnforced?: boolean;
}

export interface Cloud {
  /** `http://localhost:PORT`, without the stage. */
  url: string;
  /** Page that lists sent e-mail. */
  mailboxUrl: string;
  /** URL of the template's distribution; absent when it has none. */
  siteUrl?: string;
  outputs: Record<string, string>;
  /** Engines, as functions find them in their environment. */
  endpoints: Endpoints;
  /** Replaces the template's user pool; absent when it has none. */
  identity?: Identity;
  /** @throws the error of the function */
  invoke(functionName: string, payload: unknown): Promise<unknown>;
  roles: readonly FunctionRole[];
  /** Event sources by the physical name of their function. */
  eventSources: readonly { functionName: string; arn: string; failuresTo?: string }[];
  /** Child processes: the engine and the sandboxes. */
  processIds(): number[];
  /** Stops within three seconds and keeps the state. */
  stop(): Promise<void>;
}

/**
 * Runs a synthesized template on this machine.
 * @throws LocalRunError when the template has an unsupported part, an engine does not start or the port is
 *   taken
 */
export async function startCloud(options: CloudOptions): Promise<Cloud> {
  // If a later step fails, started parts stop in reverse order.
  await using started = new AsyncDisposableStack();
  const template = loadTemplate(options.assembly);
  const references = new References(template.stackName);
  defineNamed(template, references);
  const engines = await startEngines(options, started);
  const { dynamodb, sqs } = engines.endpoints;
  await reachEngine('DynamoDB', dynamodb, () => provisionTables(template, references, engines.dynamodb));
  await reachEngine('SQS', sqs, () => provisionQueues(template, references, engines.sqs, sqs));
  if (engines.topics) provisionTopics(template, references, engines.topics);
  defineFunctions(template, references);
  defineRestApi(template, references);
  const log = options.onLog ?? (() => undefined);
  const queueUrlOf = queueUrls(template, references);
  const { directory, mailDirectory = directory } = options;
  const place = { directory, mailDirectory, queues: engines.queues, queueUrlOf, log };
  const { identity, mailbox, ...services } = await startServices(template, references, place, started);

  const declared = eventSourceMappings(template, references);
  const mappings = declared.filter(({ Enabled }) => Enabled);
  const checkpoints = started.adopt(openCheckpoints(options.directory), (it) => it.close());
  startUpkeep(engines, started, readByAll(mappings, checkpoints), log);
  const processed = new Map<string, boolean>();
  const lambda = await startLambdaService({
    functionOf: (name) => functions.of(name),
    mappings: () => declared.map((mapping) => mappingState(mapping, functions, processed)),
  });
  started.defer(() => lambda.stop());
  const endpoints = { ...engines.endpoints, ...services.endpoints, lambda: lambda.endpoint };
  const capacity = new SandboxCapacity(options.maxSandboxes ?? MAX_SANDBOXES);
  started.adopt(
    setInterval(() => capacity.endIdle(), END_IDLE_EVERY_MS),
    clearInterval,
  );
  const functions = createFunctions(template, references, {
    environment: { ...serviceEnvironment(endpoints, options.caFile), ...options.environment },
    endpoints: Object.values(endpoints),
    concurrency: concurrencies(mappings),
    capacity,
    compileCache: options.compileCache ?? join(options.directory, 'compile-cache'),
    nodeBinary: options.nodeBinary,
    onLog: log,
    ...(options.onPermission && { onPermission: options.onPermission }),
    ...(options.rolesEnforced !== undefined && { rolesEnforced: options.rolesEnforced }),
  });
  started.defer(() => functions.stop());
  const api = compileRestApi(template, references, functions.of);
  const site = siteOf(template, references);
  const pages = [
    redirectPages(options.redirects ?? {}),
    mailPages(mailbox),
    ...(site ? [sitePages(site)] : []),
  ];
  await options.releasePort?.();
  const gateway = await startGateway(api, options.port, {
    pages: firstPage(pages),
    log: (text) => log({ source: 'gateway', text }),
    ...(options.unreadable && { unreadable: options.unreadable }),
  });
  started.defer(() => gateway.close());
  const url = `http://localhost:${gateway.port}`;
  const outputs = resolveOutputs(template, references, url);

  const sources: Source[] = [];
  started.defer(() => stopAll(sources));
  const parts = {
    ...engines,
    checkpoints,
    functionOf: functions.of,
    queueUrlOf,
    deadLetterArnOf: deadLetterArns(template, references),
    onProcessed: (logicalId: string, succeeded: boolean) => void processed.set(logicalId, succeeded),
    log,
  };
  for (const mapping of mappings) sources.push(startMapping(mapping, parts));
  sources.push(...startRules(template, references, functions.of, log));

  const running = started.move();
  const stop = once(() => stopCloud(gateway, sources, functions, running));
  return {
    url,
    mailboxUrl: `${url}/mailbox`,
    ...(site && { siteUrl: `${url}/` }),
    outputs,
    endpoints,
    identity,
    stop,
    roles: functions.roles,
    eventSources: mappings.map(({ FunctionName, EventSourceArn: arn, DestinationConfig }) => ({
      functionName: functions.of(FunctionName).name,
      arn,
      ...(DestinationConfig && { failuresTo: DestinationConfig.OnFailure.Destination }),
    })),
    invoke: async (functionName, payload) => invoke(functions.of(functionName), payload),
    processIds: () => [engines.processId(), ...functions.processIds()].filter((id) => id !== undefined),
  };
}

/** Gives work in progress a moment, then ends the sandboxes and finally the engines. */
async function stopCloud(
  gateway: Gateway,
  sources: readonly Source[],
  functions: Functions,
  running: AsyncDisposableStack,
): Promise<void> {
  try {
    const ended = Promise.all([gateway.drain(), stopAll(sources)]);
    await Promise.race([ended, sleep(STOP_GRACE_MS, undefined, { ref: false })]);
    await functions.stop();
    gateway.close();
    await ended;
  } finally {
    await running.disposeAsync();
  }
}

/** @param processed whether the last invocation of each stream mapping succeeded */
function mappingState(
  { logicalId, EventSourceArn, FunctionName, Enabled }: EventSourceMapping,
  functions: Functions,
  processed: ReadonlyMap<string, boolean>,
): MappingState {
  const succeeded = processed.get(logicalId);
  return {
    UUID: logicalId,
    EventSourceArn,
    FunctionArn: functions.of(FunctionName).arn,
    State: Enabled ? 'Enabled' : 'Disabled',
    ...(succeeded !== undefined && {
      LastProcessingResult: succeeded ? 'OK' : 'PROBLEM: Function call failed',
    }),
  };
}

async function stopAll(sources: readonly Source[]): Promise<void> {
  await Promise.all(sources.map((source) => source.stop()));
}

function once<Result>(action: () => Result): () => Result {
  let result: { value: Result } | undefined;
  return () => {
    result ??= { value: action() };
    return result.value;
  };
}

async function invoke(fn: LocalFunction, payload: unknown): Promise<unknown> {
  const result = await fn.invoke(payload);
  if (!result.functionError) return result.payload;
  throw new Error(`${fn.name}: ${describeError(result.payload)}`);
}

function describeError(payload: unknown): string {
  if (typeof payload !== 'object' || payload === null) return String(payload);
  const { errorType, errorMessage } = { errorType: '', errorMessage: '', ...payload };
  return `${errorType}: ${errorMessage}`;
}

/** Concurrent invocations of event sources by function name. */
function concurrencies(mappings: readonly EventSourceMapping[]): Map<string, number> {
  const byFunction = new Map<string, number>();
  for (const mapping of mappings) {
    const name = unqualified(mapping.FunctionName);
    byFunction.set(name, (byFunction.get(name) ?? 0) + shareOf(mapping));
  }
  return byFunction;
}

/** Finds a queue's URL by its ARN. */
function queueUrls(template: Template, references: References): (arn: string) => string {
  const urls = new Map(
    template.ofType('AWS::SQS::Queue').map(({ logicalId }) => {
      const [arn, url] = [{ 'Fn::GetAtt': [logicalId, 'Arn'] }, { Ref: logicalId }].map((it) =>
        String(references.resolve(it)),
      );
      return [arn, url];
    }),
  );
  return (arn) => {
    const url = urls.get(arn);
    if (url === undefined) throw new LocalRunError(`The template has no queue ${arn}`);
    return url;
  };
}

/** Finds the ARN of a queue's dead-letter queue by the queue's ARN. */
function deadLetterArns(
  template: Template,
  references: References,
): (queueArn: string) => string | undefined {
  const arns = new Map(
    template.ofType('AWS::SQS::Queue').flatMap(({ logicalId, properties: { RedrivePolicy } }) => {
      if (RedrivePolicy === undefined) return [];
      const { deadLetterTargetArn } = Object(references.resolve(RedrivePolicy));
      return [[String(references.resolve({ 'Fn::GetAtt': [logicalId, 'Arn'] })), deadLetterTargetArn]];
    }),
  );
  return (arn) => arns.get(arn);
}

/** Response of the first page that has one. */
const firstPage =
  (all: readonly Pages[]): Pages =>
  async (request) => {
    for (const pages of all) {
      const answer = await pages(request);
      if (answer) return answer;
    }
    return undefined;
  };

/** Stack outputs, with local URLs in place of those of an API or a distribution. */
function resolveOutputs(template: Template, references: References, url: string): Record<string, string> {
  const host = /^https:\/\/[\w-]+\.(execute-api\.[\w-]+\.amazonaws\.com|cloudfront\.net)/;
  return Object.fromEntries(
    Object.entries(template.outputs).map(([name, value]) => [
      name,
      String(references.resolve(value)).replace(host, url),
    ]),
  );
}
