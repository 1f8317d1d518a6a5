import { newId, type OrgId } from '../../../functions/aws/ids.ts';
import type { ApiPorts } from '../../../functions/http/api.ts';
import { type FindSandbox, type Keys, keyAuthentication } from '../../../functions/http/authentication.ts';
import type { IdempotencyScope, StoredReply } from '../../../functions/http/idempotency.ts';
import type { Capacity } from '../../../functions/http/rate-limit.ts';
import { type ApiKey, generateApiKey, hashApiKey } from '../../../functions/tenancy/api-key.ts';
import type { AuditEntry } from '../../../functions/tenancy/audit.ts';
import type { Environment, Tenant } from '../../../functions/tenancy/tenant.ts';
import { anApiKey, NOW } from '../../builders.ts';
import { type CapturedLogging, capturingLogger } from '../aws/capturing-logger.ts';

/** A write: of an idempotency record, a text of the use case, or an entry of the audit log. */
export type Change =
  | { record: IdempotencyScope; answer: StoredReply }
  | { write: string }
  | { entry: AuditEntry };

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
  consumed: Capacity;
  /** Tokens that requests were charged after they ran, in addition to those before. */
  corrections: number[];
  /** How often the limiter failed and requests passed. */
  limiterFailures: number;
  /** Each commit that took effect. */
  commits: (readonly Change[])[];
  /** Stores an answer, as another request with the same key would. */
  rememberMeanwhile(scope: IdempotencyScope, answer: StoredReply): void;
  /** When set, every commit is refused with this. */
  refusal?: string;
  /** Requests that failed through an error of the service. */
  failures: number;
  logger: CapturedLogging;
  ports: ApiPorts<Change>;
}

/** An organization that keys may name and that does not exist. */
export const MISSING_ORGANIZATION = newId('org', NOW);

export function inMemory(): InMemory {
  const secret = generateApiKey('live');
  const key = anApiKey();
  const answers = new Map<string, StoredReply>();
  const nameOf = (scope: IdempotencyScope) => JSON.stringify(scope);
  const logger = capturingLogger();

  const service: InMemory = {
    secret,
    key,
    tenant: { orgId: key.orgId, generation: 0 },
    keys: new Map([[hashApiKey(secret), key]]),
    commits: [],
    rememberMeanwhile: (scope, answer) => answers.set(nameOf(scope), answer),
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
    limiterFailures: 0,
    failures: 0,
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
      onLimiterFailure: () => {
        service.limiterFailures += 1;
      },
      onFailure: () => {
        service.failures += 1;
      },
      publishMetrics: () => undefined,
      memory: {
        find: async (scope) => answers.get(nameOf(scope)),
        record: (scope, answer) => ({ record: scope, answer }),
      },
      commit: async (changes) => {
        if (service.refusal !== undefined) return { kind: 'refused', refusal: service.refusal };
        const records = changes.flatMap((change) => ('record' in change ? [change] : []));
        if (records.some(({ record }) => answers.has(nameOf(record))))
          return { kind: 'refused', refusal: 'idempotency-key-used' };
        for (const { record, answer } of records) answers.set(nameOf(record), answer);
        service.commits.push(changes);
        return { kind: 'committed' };
      },
      recordAuditEntry: (entry) => ({ entry }),
      logger,
      now: () => NOW,
    },
  };
  return service;
}
