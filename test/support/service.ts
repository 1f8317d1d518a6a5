import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { OrgId } from '../../functions/domain/ids.ts';
import { ensureCertificates } from '../../lib/local/certificates/certificate-files.ts';
import { type Cloud, startCloud } from '../../lib/local/cloud.ts';
import { synthesize } from '../../lib/local/console/synthesis.ts';
import { CREDENTIALS } from '../../lib/local/engines/engines.ts';
import { runningProcess } from '../../lib/local/engines/processes.ts';
import { startReceiver } from '../../lib/local/receiver/receiver.ts';

/** Requests a minute of the tier `standard`: few, so that a test uses them up in a moment. */
export const STANDARD_LIMIT = 60;

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
  stop(): Promise<void>;
}

/**
 * Synthesizes the stack and starts it in a directory of its own.
 * @throws LocalRunError when either fails
 */
export async function startService(): Promise<Service> {
  const directory = await mkdtemp(join(tmpdir(), 'service-'));
  const remove = () => rm(directory, { recursive: true, force: true, maxRetries: 5 });
  try {
    const certificates = await ensureCertificates(directory, new Date());
    const assembly = join(directory, 'assembly');
    await synthesize({
      assembly,
      compileCache: join(tmpdir(), 'service-compile-cache'),
      context: { rateLimitSandbox: 60, rateLimitStandard: STANDARD_LIMIT, rateLimitScale: 1_000_000 },
      signal: AbortSignal.timeout(60_000),
    });
    const cloud = await startCloud({
      assembly,
      directory: join(directory, 'state'),
      port: 0,
      caFile: certificates.caFile,
    });
    const tables = tablesOf(cloud);
    const receiver = await startReceiver(certificates.receiver);
    return {
      url: cloud.url,
      receiver: `${receiver.url}/hooks`,
      enrol: (terms) => enrol(cloud, terms),
      session: sessions(cloud),
      itemsWith: tables.itemsWith,
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

/** Looks into the tables behind the service's back. */
function tablesOf(cloud: Cloud): { itemsWith: Service['itemsWith']; close(): void } {
  // The cloud does not say where its engine listens; its process does.
  const [port] = cloud
    .processIds()
    .flatMap((id) => / --port (\d+) --db-path /.exec(runningProcess(id)?.command ?? '')?.[1] ?? []);
  if (port === undefined) throw new Error('the embedded DynamoDB is not among the processes of the run');
  const plain = new DynamoDBClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    credentials: CREDENTIALS,
  });
  const client = DynamoDBDocumentClient.from(plain);
  return {
    async itemsWith(texts) {
      const found: string[] = [];
      const { TableNames = [] } = await plain.send(new ListTablesCommand({}));
      for (const TableName of TableNames)
        for await (const page of paginateScan({ client }, { TableName, ConsistentRead: true }))
          for (const item of page.Items ?? []) {
            const line = `${TableName} ${inspect(item, WHOLE)}`;
            if (texts.some((text) => line.includes(text))) found.push(line);
          }
      return found.sort();
    },
    close: () => plain.destroy(),
  };
}
