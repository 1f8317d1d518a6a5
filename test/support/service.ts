import { mkdtemp, rm } from 'node:fs/promises';
import { flushCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { SendMessageCommand, SetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { REGION } from 'aws-local/arns.ts';
import { type Cloud, startCloud } from 'aws-local/cloud.ts';
import { CREDENTIALS } from 'aws-local/engines/engines.ts';
import type { UsedPermission } from 'aws-local/functions/functions.ts';
import { createMemoryDirectory } from 'aws-local/test/memory-directory.ts';
import * as z from 'zod';
import { OrgId } from '../../functions/aws/ids.ts';
import type { FunctionName } from '../../lib/infra/grants/grant.ts';
import type { StageFile } from '../../lib/infra/settings.ts';
import { ensureCertificates } from '../../lib/local-run/certificates/certificate-files.ts';
import { LOCAL_SERVICE } from '../../lib/local-run/start/local-service.ts';
import { MAIL_FROM, synthesize } from '../../lib/local-run/start/synthesis.ts';
import { startReceiver } from '../../packages/cli/src/receiver/receiver.ts';
import { openRecord, refuseDenied } from '../grants/records.ts';
import { addVariables, functionsOf, stopLoopsOf } from './assembly.ts';
import { mailsIn, type ReceivedMail } from './mails.ts';
import { type QueuesBehind, queuesBehind } from './queues.ts';
import { type Row, type TablesBehind, tablesBehind } from './tables.ts';

/** Of the dashboard, which e-mails link to; no server listens there. */
const DASHBOARD_ORIGIN = 'https://dashboard.example';

/** Not a measure of speed: other processes may take most of the machine. */
const SYNTHESIS_MS = 110_000;

/** The database of the test run, where it has one. */
const COMPILE_CACHE = process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), 'service-compile-cache');

/**
 * One for each function, and some more for concurrent calls: starting a process takes longer than most calls.
 */
const MAX_SANDBOXES = 128;

/** More requests a minute than any test sends: those that need a limit set what is counted (`useUp`). */
const UNLIMITED = { sandbox: 1_000_000, standard: 1_000_000, scale: 1_000_000 };

/** An organization that a test created for itself. */
export interface Tenancy {
  orgId: OrgId;
  /** Has every scope of a key. */
  key: string;
}

const BUSY = { status: 503, headers: { 'retry-after': '3600' } };
const PAGE = { status: 200, headers: { 'content-type': 'text/plain' }, body: 'some text' };

/**
 * The service as its template runs here, for tests that need more than a local run offers: other
 * organizations.
 */
export interface Service {
  /** Without `/api`. */
  url: string;
  /** URL of a receiver, see `Maker` in resources.ts, and of a page with some text. */
  receiver: string;
  /** A new organization, by default of the tier `scale`, whose budget no test uses up. */
  enrol(terms?: { tier?: 'standard' | 'scale'; scopes?: readonly string[] }): Promise<Tenancy>;
  /** A dashboard session's token. */
  session(orgId: OrgId, role: 'admin' | 'member', lifetimeSeconds?: number): Promise<string>;
  /**
   * Every item of every table that contains one of the texts, as text with the table's name, in a fixed
   * order.
   */
  itemsWith(texts: readonly string[]): Promise<string[]>;
  /**
   * Every item of every table.
   * @param texts only those that contain one of them
   * @param name only of this table, for example `Usage`
   */
  rows(texts?: readonly string[], name?: string): Promise<Row[]>;
  /** Replaces an item by its key. */
  rewrite(row: Row): Promise<void>;
  /** Deletes an item of a table whose items have a partition and a sort key. */
  remove(row: Row): Promise<void>;
  /** Deletes a table. @param name in the stack, for example `Usage` */
  drop: TablesBehind['drop'];
  /** The position of the record in its table's stream that reports a row's addition. */
  streamed: TablesBehind['streamed'];
  /**
   * Invokes a function now, regardless of its trigger.
   * @throws Error of the function
   */
  invoke(name: FunctionName, payload?: unknown): Promise<unknown>;
  /** The e-mails that the service has sent, oldest first. */
  mails(): Promise<ReceivedMail[]>;
  /**
   * The number of messages in a queue.
   * @param path of the queue in the stack, for example `Bus/Meter/Queue`
   */
  queued: QueuesBehind['queued'];
  /** Their bodies. As {@link Service.queued}. */
  bodies: QueuesBehind['bodies'];
  /**
   * Sends a message to a queue. @param path as in {@link Service.queued} @param traceHeader of the message
   */
  send(path: string, body: string, traceHeader: string): Promise<void>;
  /**
   * Changes how a queue handles messages that its reader fails to process.
   * @param path as in {@link Service.queued}
   */
  setQueueClocks(path: string, clocks: QueueClocks): Promise<void>;
  /** PEM: the certificate of this machine's receivers. */
  tls: { cert: string; key: string };
  /** Ends the connections to it, and the service itself where this process has started it. */
  stop(): Promise<void>;
}

/** A service that this process has started. */
export interface StartedService extends Service {
  /** Lets another process connect to it, by {@link connectService}. */
  parts: ServiceParts;
  /** @throws Error with the actions of functions that their roles do not allow */
  stop(): Promise<void>;
}

/** Where the parts of a running service are. */
export interface ServiceParts extends Pick<Service, 'url' | 'receiver' | 'tls'> {
  /** Directories of its assembly and of its state. */
  assembly: string;
  state: string;
  endpoints: Pick<Cloud['endpoints'], 'lambda' | 'sqs'>;
  enrolFunction: string;
  /** Of its engine among others. */
  processIds: number[];
  /** ARNs. */
  eventSources: string[];
}

/** The users of its organizations. */
export type Users = Pick<Service, 'session'>;

/** How a queue with dead letters handles messages that its reader fails to process. */
interface QueueClocks {
  /** Seconds. */
  visibilityTimeout: number;
  maxReceiveCount: number;
}

/** Options of a test's own service. */
export interface ServiceOptions {
  /** Settings of the stage, over those of all tests. */
  settings?: Partial<Extract<StageFile, { class: 'development' }>>;
  /** Additional variables of every function. */
  variables?: Readonly<Record<string, string>>;
  /** Functions without `RecursiveLoop: Allow`. */
  stoppedInLoops?: readonly FunctionName[];
  /** Called for each line that functions log. */
  onLog?(line: { source: string; text: string }): void;
}

/**
 * Synthesizes the stack and starts it in a directory of its own.
 * @throws UserError when either fails
 */
export async function startService({
  settings,
  variables,
  stoppedInLoops = [],
  onLog,
}: ServiceOptions = {}): Promise<StartedService> {
  const directory = await mkdtemp(join(tmpdir(), 'service-'));
  const state = createMemoryDirectory('service-state-');
  const remove = async () => {
    for (const path of [directory, state]) await rm(path, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const certificates = await ensureCertificates(directory, new Date());
    const assembly = join(directory, 'assembly');
    await synthesize({
      assembly,
      compileCache: COMPILE_CACHE,
      context: {
        stage: 'dev',
        settings: {
          class: 'development',
          rateLimits: UNLIMITED,
          // Invocations that began before a reset end within a moment here.
          lingerSeconds: 2,
          mailFrom: MAIL_FROM,
          dashboard: { origin: DASHBOARD_ORIGIN },
          ...settings,
        },
      },
      signal: AbortSignal.timeout(SYNTHESIS_MS),
    });
    if (variables !== undefined) addVariables(assembly, variables);
    stopLoopsOf(assembly, stoppedInLoops);
    const used: UsedPermission[] = [];
    const record = openRecord();
    const cloud = await startCloud({
      ...LOCAL_SERVICE,
      assembly,
      directory: state,
      compileCache: COMPILE_CACHE,
      port: 0,
      caFile: certificates.caFile,
      maxSandboxes: MAX_SANDBOXES,
      ...(onLog && { onLog }),
      onPermission(use) {
        used.push(use);
        record.add({ use });
      },
    });
    for (const role of cloud.roles) record.add({ role });
    for (const eventSource of cloud.eventSources) record.add({ eventSource });
    const receiver = await startReceiver({
      ...certificates.receiver,
      respond: ({ method, path }) =>
        method === 'GET' ? PAGE : /\/busy\b/.test(path) ? BUSY : { status: 200 },
    });
    const parts: ServiceParts = {
      url: cloud.url,
      receiver: `${receiver.url}/hooks`,
      tls: certificates.receiver,
      assembly,
      state,
      endpoints: cloud.endpoints,
      enrolFunction: cloud.outputs.EnrolFunctionName ?? '',
      processIds: cloud.processIds(),
      eventSources: cloud.eventSources.map(({ arn }) => arn),
    };
    const connected = connectService(parts, usersOf(cloud));
    return {
      ...connected,
      parts,
      async stop() {
        // Vitest ends its workers by a signal, which would lose their compile cache.
        flushCompileCache();
        await connected.stop();
        await cloud.stop();
        await receiver.stop();
        await remove();
        refuseDenied(used);
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Connects this process to a running service. */
export function connectService(parts: ServiceParts, users: Users): Service {
  const { url, receiver, tls, state, endpoints } = parts;
  const functions = functionsOf(parts.assembly);
  const tables = tablesBehind(parts.processIds, parts.eventSources);
  const queues = queuesBehind(state);
  const client = { region: REGION, credentials: CREDENTIALS };
  const sqs = new SQSClient({ ...client, endpoint: endpoints.sqs });
  // A call may have an effect, so none is repeated; a kept connection may end right before one.
  const lambda = new LambdaClient({
    ...client,
    endpoint: endpoints.lambda,
    maxAttempts: 1,
    requestHandler: { httpAgent: { keepAlive: false } },
  });
  const queueUrlOf = (path: string) =>
    new URL(`/${queues.arnOf(path).split(':').slice(-2).join('/')}`, endpoints.sqs).href;

  async function invoke(FunctionName: string, payload: unknown): Promise<unknown> {
    const { FunctionError, Payload } = await lambda.send(
      new InvokeCommand({ FunctionName, Payload: JSON.stringify(payload) }),
    );
    const result: unknown = JSON.parse(Payload?.transformToString() || 'null');
    if (FunctionError === undefined) return result;
    const { errorType, errorMessage } = Object(result);
    throw new Error(`${FunctionName}: ${errorType}: ${errorMessage}`);
  }

  return {
    url,
    receiver,
    tls,
    ...users,
    async enrol(terms = {}) {
      const request = { name: 'Example Ltd', tier: 'scale', ...terms };
      const { organizationId, key } = Enrolled.parse(await invoke(parts.enrolFunction, request));
      return { orgId: organizationId, key: key.secretOnce };
    },
    itemsWith: async (texts) => linesOf(await tables.rows(texts)),
    rows: tables.rows,
    rewrite: tables.rewrite,
    remove: tables.remove,
    drop: tables.drop,
    streamed: tables.streamed,
    invoke: (name, payload = {}) => invoke(functions.physicalNameOf(name), payload),
    mails: () => mailsIn(state),
    queued: queues.queued,
    bodies: queues.bodies,
    async send(path, body, traceHeader) {
      const AWSTraceHeader = { DataType: 'String', StringValue: traceHeader } as const;
      await sqs.send(
        new SendMessageCommand({
          QueueUrl: queueUrlOf(path),
          MessageBody: body,
          MessageSystemAttributes: { AWSTraceHeader },
        }),
      );
    },
    async setQueueClocks(path, { visibilityTimeout, maxReceiveCount }) {
      const deadLetterTargetArn = queues.arnOf(`${path.slice(0, path.lastIndexOf('/'))}/DeadLetters`);
      await sqs.send(
        new SetQueueAttributesCommand({
          QueueUrl: queueUrlOf(path),
          Attributes: {
            VisibilityTimeout: String(visibilityTimeout),
            RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount }),
          },
        }),
      );
    },
    async stop() {
      tables.close();
      queues.close();
      sqs.destroy();
      lambda.destroy();
    },
  };
}

const Enrolled = z.object({ organizationId: OrgId, key: z.object({ secretOnce: z.string() }) });

/** Each user of each organization is a user of the pool. */
function usersOf(cloud: Cloud): Users {
  const users = new Map<string, { email: string; password: string; attributes: Record<string, string> }>();
  const { identity } = cloud;
  return {
    async session(orgId, role, lifetimeSeconds = 3600) {
      if (identity === undefined) throw new Error('the template has no user pool');
      const email = `${role}@${orgId}.test`;
      users.set(email, {
        email,
        password: 'unused',
        attributes: { 'custom:organization': orgId, 'custom:role': role, preferred_username: orgId },
      });
      identity.setUsers([...users.values()]);
      return identity.idToken(email, { lifetimeSeconds });
    },
  };
}

const WHOLE = {
  sorted: true,
  depth: null,
  breakLength: Number.POSITIVE_INFINITY,
  maxArrayLength: null,
  maxStringLength: null,
};

const linesOf = (rows: readonly Row[]): string[] =>
  rows.map(({ table, item }) => `${table} ${inspect(item, WHOLE)}`).sort();
