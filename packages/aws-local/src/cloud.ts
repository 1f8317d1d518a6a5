import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { reachEngine } from './connection-failure.ts';
import { openCheckpoints } from './engines/checkpoints.ts';
import { startEngines, startUpkeep } from './engines/engines.ts';
import { LocalRunError } from './errors.ts';
import { SandboxCapacity } from './functions/capacity.ts';
import {
  createFunctions,
  defineFunctions,
  type FunctionFault,
  type FunctionRole,
  type Functions,
  type UsedPermission,
  unqualified,
} from './functions/functions.ts';
import { type MappingState, startLambdaService } from './functions/lambda-service.ts';
import type { LocalFunction } from './functions/runtime.ts';
import type { FaultPlan } from './functions/sandbox/faults.ts';
import { redirectPages } from './gateway/redirects.ts';
import { compileRestApi, defineRestApi } from './gateway/rest-api.ts';
import { type Gateway, type Pages, startGateway } from './gateway/server.ts';
import type { Identity } from './identity/identity.ts';
import { mailPages } from './mail/mail-pages.ts';
import { defineNamed, provisionQueues, provisionTables } from './provision/provision.ts';
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
 * Sandboxes of all functions together. Under steady load each has been seen at 37 MiB, and the rest of the
 * run at 275: with all of these it stays below 1.5 GiB. With 12, calls to all routes in turn spent a third of
 * their time on ending sandboxes and starting others.
 */
const MAX_SANDBOXES = 30;
/** How long what is in hand may take to end when the run stops. */
const STOP_GRACE_MS = 1_500;

export interface CloudOptions {
  /** Directory of the synthesized assembly. */
  assembly: string;
  /** Directory for all state, kept across restarts. */
  directory: string;
  /** Directory in which `mailbox` has what is sent by e-mail; that of the state otherwise. */
  mailDirectory?: string;
  /** Directory for compiled code of functions, which several runs may share; one in `directory` otherwise. */
  compileCache?: string;
  /** Of the API; 0 for any. */
  port: number;
  /** Gives the port up, right before the gateway listens on it. Without it nothing holds the port. */
  releasePort?: () => Promise<void>;
  /** File of a certificate authority (PEM) that functions trust besides the public ones. */
  caFile?: string;
  /** Variables that every function has besides those of the template. */
  environment?: Readonly<Record<string, string>>;
  /** Where paths outside the API's stage lead, for example `/docs` to `/prod/docs`. */
  redirects?: Readonly<Record<string, string>>;
  /** Node.js for the sandboxes; the one that runs this otherwise. */
  nodeBinary?: string;
  /** Of all functions together; as many as a small machine has the memory for otherwise. */
  maxSandboxes?: number;
  /** Another DynamoDB instead of the embedded one. */
  dynamodbEndpoint?: string;
  /** Another SQS instead of the embedded one. */
  sqsEndpoint?: string;
  onLog?: (line: { source: string; text: string }) => void;
  /** Called for each action of a function on a resource, once per process. */
  onPermission?: (used: UsedPermission) => void;
  /**
   * Whether a call that a role does not allow is refused, as on AWS. False sends it and reports it as
   * refused: for tests, and to find
   * out whether a role is the reason of a failure. True when absent.
   */
  rolesEnforced?: boolean;
  /**
   * Faults of the first requests of functions, by physical name: for tests of what functions do about them.
   * For a
   * function with an entry `onPermission` is called for each request.
   */
  faults?: Readonly<Record<string, FaultPlan>>;
  /** Called with each fault that was injected. */
  onFault?: (injected: FunctionFault) => void;
}

export interface Cloud {
  /** `http://localhost:PORT`, without the stage. */
  url: string;
  /** Page with what was sent by e-mail. */
  mailboxUrl: string;
  /** Of the site that the template's distribution serves; absent when it has none. */
  siteUrl?: string;
  outputs: Record<string, string>;
  /**
   * Where the engines listen, which functions find in their environment; and Lambda, which is for operators
   * alone.
   */
  endpoints: Endpoints & { lambda: string };
  /** Stands for the template's user pool; absent when it has none. */
  identity?: Identity;
  /** Invokes a function by its physical name; throws what the function throws. */
  invoke(functionName: string, payload: unknown): Promise<unknown>;
  /** What the roles of functions allow. */
  roles: readonly FunctionRole[];
  /** What feeds functions, by their physical name. */
  eventSources: readonly { functionName: string; arn: string; failuresTo?: string }[];
  /** Every child process: the engine's, and the sandboxes'. */
  processIds(): number[];
  /** Stops it all within three seconds, with the state kept. */
  stop(): Promise<void>;
}

/**
 * Runs a synthesized template on this machine.
 *
 * @throws LocalRunError when the template has what the local run does not know, an engine does not start or
 * the port is taken
 */
export async function startCloud(options: CloudOptions): Promise<Cloud> {
  // If a later step fails, started parts are stopped in reverse order.
  await using started = new AsyncDisposableStack();
  const template = loadTemplate(options.assembly);
  const references = new References(template.stackName);
  defineNamed(template, references);
  const engines = await startEngines(options, started);
  const { dynamodb, sqs } = engines.endpoints;
  await reachEngine('DynamoDB', dynamodb, () => provisionTables(template, references, engines.dynamodb));
  await reachEngine('SQS', sqs, () => provisionQueues(template, references, engines.sqs, sqs));
  defineFunctions(template, references);
  defineRestApi(template, references);
  const log = options.onLog ?? (() => undefined);
  const queueUrlOf = queueUrls(template, references);
  const { directory, mailDirectory = directory } = options;
  const place = { directory, mailDirectory, sqs: engines.sqs, queueUrlOf, log };
  const { identity, mailbox, ...services } = await startServices(template, references, place, started);

  const declared = eventSourceMappings(template, references);
  const mappings = declared.filter(({ Enabled }) => Enabled);
  const checkpoints = started.adopt(openCheckpoints(options.directory), (it) => it.close());
  startUpkeep(engines, started, readByAll(mappings, checkpoints), log);
  const endpoints = { ...engines.endpoints, ...services.endpoints };
  const functions = createFunctions(template, references, {
    environment: { ...serviceEnvironment(endpoints, options.caFile), ...options.environment },
    endpoints: Object.values(endpoints),
    concurrency: concurrencies(mappings),
    capacity: new SandboxCapacity(options.maxSandboxes ?? MAX_SANDBOXES),
    compileCache: options.compileCache ?? join(options.directory, 'compile-cache'),
    nodeBinary: options.nodeBinary,
    onLog: log,
    ...(options.onPermission && { onPermission: options.onPermission }),
    ...(options.rolesEnforced !== undefined && { rolesEnforced: options.rolesEnforced }),
    ...(options.faults && { faults: options.faults }),
    ...(options.onFault && { onFault: options.onFault }),
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
  const gateway = await startGateway(api, options.port, firstOf(pages), (text) =>
    log({ source: 'gateway', text }),
  );
  started.defer(() => gateway.close());
  const url = `http://localhost:${gateway.port}`;
  const outputs = resolveOutputs(template, references, url);

  const sources: Source[] = [];
  started.defer(() => stopAll(sources));
  const processed = new Map<string, boolean>();
  const lambda = await startLambdaService({
    functionOf: functions.of,
    mappings: () => declared.map((mapping) => mappingState(mapping, functions, processed)),
  });
  started.defer(() => lambda.stop());
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
    endpoints: { ...endpoints, lambda: lambda.endpoint },
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

/**
 * Lets what is in hand end, for a moment; then ends the sandboxes, which ends the rest of it, and the engines
 * at last.
 */
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

/** @param processed whether the last invocation of each mapping of a stream succeeded */
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

/** Concurrent invocations of event sources, by the name of their function. */
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

/** Finds the dead-letter queue of a queue, by the ARNs of both. */
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

/** What the first of these pages answers. */
const firstOf =
  (all: readonly Pages[]): Pages =>
  async (request) => {
    for (const pages of all) {
      const answer = await pages(request);
      if (answer) return answer;
    }
    return undefined;
  };

/** The stack's outputs; the address of an API or a distribution on AWS becomes the one here. */
function resolveOutputs(template: Template, references: References, url: string): Record<string, string> {
  const host = /^https:\/\/[\w-]+\.(execute-api\.[\w-]+\.amazonaws\.com|cloudfront\.net)/;
  return Object.fromEntries(
    Object.entries(template.outputs).map(([name, value]) => [
      name,
      String(references.resolve(value)).replace(host, url),
    ]),
  );
}
