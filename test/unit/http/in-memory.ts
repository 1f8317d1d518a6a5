import { newId, type OrgId } from '../../../functions/aws/ids.ts';
import type { Row } from '../../../functions/aws/table.ts';
import { buildAddition, type Change, committer, type Refusal } from '../../../functions/aws/transaction.ts';
import type { ApiPorts } from '../../../functions/http/api.ts';
import { keyAuthentication } from '../../../functions/http/authentication.ts';
import {
  type IdempotencyRecord,
  type IdempotencyScope,
  idempotencyStore,
} from '../../../functions/http/idempotency.ts';
import { type ApiKey, generateApiKey, hashApiKey } from '../../../functions/tenancy/api-keys.ts';
import { recordAuditEntry } from '../../../functions/tenancy/audit.ts';
import type { Environment, Tenant } from '../../../functions/tenancy/tenant.ts';
import { anApiKey, NOW } from '../../builders.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';
import { type CapturedLogging, capturingLogger } from '../aws/capturing-logger.ts';

let things = 0;

/** A write of a use case. */
export const aThing = (write: string): Change => {
  things += 1;
  return buildAddition({ name: 'service' }, { pk: 'things', sk: String(things), write });
};

type Keys = Parameters<typeof keyAuthentication>[0];
type FindSandbox = Parameters<typeof keyAuthentication>[1];

/** The ports of the pipeline in memory, with one API key of all scopes. */
export interface InMemory {
  /** The text of the API key. */
  secret: string;
  key: ApiKey;
  tenant: Tenant;
  /** Keys by digest. */
  keys: Map<string, ApiKey>;
  /** Where the pipeline finds keys. */
  lookup: Keys;
  /** The stored pairings, beside their live organizations. */
  sandboxes: Map<OrgId, Awaited<ReturnType<FindSandbox>>>;
  /** The state of every organization, except the missing one. */
  environment: Environment;
  /** What is left of the budget before the next request; the limit of a window is 10. */
  budget: number;
  /** Keys whose use was recorded. */
  used: ApiKey['id'][];
  /** The capacity of the tables that a request consumes. */
  consumed: { reads: number; writes: number };
  /** Tokens that requests were charged after they ran, in addition to those before. */
  corrections: number[];
  /** The rows of each commit that took effect. */
  commits: Row[][];
  /** Stores an answer, as another request with the same key would. */
  rememberMeanwhile(scope: IdempotencyScope, answer: IdempotencyRecord): Promise<unknown>;
  /** When set, every commit is refused with this. */
  refusal?: Refusal;
  logger: CapturedLogging;
  ports: ApiPorts;
}

/** An organization that keys may name and that does not exist. */
export const MISSING_ORGANIZATION = newId('org', NOW);

export function inMemory(): InMemory {
  const secret = generateApiKey('live');
  const key = anApiKey();
  const table = memoryTables().service;
  const idempotency = idempotencyStore(table);
  const commit = committer(table.client);
  const logger = capturingLogger();

  const service: InMemory = {
    secret,
    key,
    tenant: { orgId: key.orgId, generation: 0 },
    keys: new Map([[hashApiKey(secret), key]]),
    commits: [],
    rememberMeanwhile: (scope, answer) => commit([idempotency.record(scope, answer, NOW)]),
    logger,
    lookup: {
      find: async (digest) => service.keys.get(digest),
      noteUse: async ({ id }) => {
        service.used.push(id);
      },
    },
    sandboxes: new Map(),
    environment: 'live',
    budget: 10,
    consumed: { reads: 0, writes: 0 },
    corrections: [],
    used: [],
    ports: {
      authenticate: keyAuthentication(
        {
          find: (digest) => service.lookup.find(digest),
          noteUse: (key, now) => service.lookup.noteUse(key, now),
        },
        async (id) => service.sandboxes.get(id) ?? { pairing: undefined, sandbox: undefined },
        logger.log,
      ),
      organization: async (id) =>
        id === MISSING_ORGANIZATION ? undefined : { tier: 'standard', environment: service.environment },
      limiter: {
        take: async (bucket, tier, _, tokens = 1) => {
          const allowed = service.budget > 0;
          if (allowed) service.budget -= tokens;
          const remaining = Math.max(0, service.budget);
          return { tier, limit: 10, remaining, resetSeconds: 42, allowed, bucket, start: 0, tokens };
        },
        correct: async (charge, tokens) => {
          const more = tokens - charge.tokens;
          if (more === 0) return charge;
          service.corrections.push(more);
          service.budget -= more;
          return { ...charge, tokens, remaining: Math.max(0, service.budget) };
        },
      },
      capacity: { begin: () => undefined, consumed: () => service.consumed },
      idempotency,
      commit: async (changes) => {
        if (service.refusal !== undefined) return { kind: 'refused', refusal: service.refusal };
        const result = await commit(changes);
        if (result.kind === 'committed')
          service.commits.push(changes.map(({ write }) => write.Put?.Item ?? {}));
        return result;
      },
      recordAuditEntry: (entry) => recordAuditEntry(table, entry),
      logger,
      now: () => NOW,
    },
  };
  return service;
}
