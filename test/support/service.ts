import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import * as z from 'zod';
import { OrgId } from '../../functions/domain/ids.ts';
import type { FunctionName } from '../../lib/cloud/bundle.ts';
import { ensureCertificates } from '../../lib/local/certificates/certificate-files.ts';
import { type Cloud, startCloud } from '../../lib/local/cloud.ts';
import { type StackContext, synthesize } from '../../lib/local/console/synthesis.ts';
import { startReceiver } from '../../lib/local/receiver/receiver.ts';
import { addVariables, functionsOf } from './assembly.ts';
import { type Row, tablesBehind } from './tables.ts';

/** Requests a minute of the tier `standard`: few, so that a test uses them up in a moment. */
export const STANDARD_LIMIT = 600;
/** Of every sandbox: no more than any other tier has, and enough for what a test does in one. */
export const SANDBOX_LIMIT = 600;

/** An organization that a test made for itself. */
export interface Tenancy {
  orgId: OrgId;
  /** May do everything that a key can. */
  key: string;
}

/** The service as the template runs here, for tests that need what a person's local run does not give: other organizations. */
export interface Service {
  /** Without `/api`. */
  url: string;
  /** Address of a receiver that answers 200 to everything. */
  receiver: string;
  /** A new organization: of the tier `scale`, which nothing here uses up, unless it says otherwise. */
  enrol(terms?: { tier?: 'standard' | 'scale'; scopes?: readonly string[] }): Promise<Tenancy>;
  /** A dashboard session's token. */
  session(orgId: OrgId, role: 'admin' | 'member', lifetimeSeconds?: number): Promise<string>;
  /** Every item of every table that holds one of the texts, as text with the table's name, in a fixed order. */
  itemsWith(texts: readonly string[]): Promise<string[]>;
  /** Every item of every table. */
  rows(): Promise<Row[]>;
  /** Invokes a function now, whatever invokes it otherwise. @throws Error of the function */
  invoke(name: FunctionName, payload?: unknown): Promise<unknown>;
  /** PEM: what a receiver of this machine identifies itself with. */
  tls: { cert: string; key: string };
  stop(): Promise<void>;
}

/** What a test's own service has that others have not. */
export interface ServiceOptions {
  /** Settings of the stack, over those that all tests have. */
  context?: StackContext;
  /** Variables that every function has besides its own. */
  variables?: Readonly<Record<string, string>>;
}

/**
 * Synthesizes the stack and starts it in a directory of its own.
 * @throws LocalRunError when either fails
 */
export async function startService({ context, variables }: ServiceOptions = {}): Promise<Service> {
  const directory = await mkdtemp(join(tmpdir(), 'service-'));
  const remove = () => rm(directory, { recursive: true, force: true, maxRetries: 5 });
  try {
    const certificates = await ensureCertificates(directory, new Date());
    const assembly = join(directory, 'assembly');
    await synthesize({
      assembly,
      compileCache: join(tmpdir(), 'service-compile-cache'),
      context: {
        rateLimitSandbox: SANDBOX_LIMIT,
        rateLimitStandard: STANDARD_LIMIT,
        rateLimitScale: 1_000_000,
        // What was begun before a reset is done in a moment here.
        lingerSeconds: 2,
        ...context,
      },
      signal: AbortSignal.timeout(60_000),
    });
    if (variables !== undefined) addVariables(assembly, variables);
    const functions = functionsOf(assembly);
    const cloud = await startCloud({
      assembly,
      directory: join(directory, 'state'),
      port: 0,
      caFile: certificates.caFile,
    });
    const tables = tablesBehind(cloud.processIds());
    const receiver = await startReceiver(certificates.receiver);
    return {
      url: cloud.url,
      receiver: `${receiver.url}/hooks`,
      enrol: (terms) => enrol(cloud, terms),
      session: sessions(cloud),
      itemsWith: async (texts) => linesWith(texts, await tables.rows()),
      rows: tables.rows,
      invoke: (name, payload = {}) => cloud.invoke(functions.physicalNameOf(name), payload),
      tls: certificates.receiver,
      async stop() {
        tables.close();
        await cloud.stop();
        await receiver.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

const Enrolled = z.object({ organizationId: OrgId, key: z.object({ secretOnce: z.string() }) });

async function enrol(cloud: Cloud, terms: Parameters<Service['enrol']>[0] = {}): Promise<Tenancy> {
  const request = { name: 'Example Ltd', tier: 'scale', ...terms };
  const { organizationId, key } = Enrolled.parse(
    await cloud.invoke(cloud.outputs.EnrolFunctionName ?? '', request),
  );
  return { orgId: organizationId, key: key.secretOnce };
}

/** Each person of each organization is a user of the pool. */
function sessions(cloud: Cloud): Service['session'] {
  const users = new Map<string, { email: string; password: string; attributes: Record<string, string> }>();
  return async (orgId, role, lifetimeSeconds = 3600) => {
    if (cloud.identity === undefined) throw new Error('the template has no user pool');
    const email = `${role}@${orgId}.test`;
    users.set(email, {
      email,
      password: 'unused',
      attributes: { 'custom:organization': orgId, 'custom:role': role },
    });
    cloud.identity.setUsers([...users.values()]);
    return cloud.identity.idToken(email, { lifetimeSeconds });
  };
}

const WHOLE = {
  sorted: true,
  depth: null,
  breakLength: Number.POSITIVE_INFINITY,
  maxArrayLength: null,
  maxStringLength: null,
};

function linesWith(texts: readonly string[], rows: readonly Row[]): string[] {
  return rows
    .map(({ table, item }) => `${table} ${inspect(item, WHOLE)}`)
    .filter((line) => texts.some((text) => line.includes(text)))
    .sort();
}
