import * as z from 'zod/mini';
import { BoundedMap } from '../aws/cache.ts';
import { all, assign, attribute, expression, unchanged } from '../aws/expression.ts';
import { newId, OrgId, Timestamp } from '../aws/ids.ts';
import { EXISTS, get, queryAll, readRows, type Table, update } from '../aws/table.ts';
import {
  buildAddition,
  buildCheck,
  buildDelete,
  buildPut,
  buildUpdate,
  type Change,
} from '../aws/transaction.ts';
import type { ApiKey } from './api-keys.ts';
import { keys } from './keys.ts';
import {
  FIRST_SANDBOX_GENERATION,
  isSandbox,
  type NewOrganization,
  Organization,
  type OrganizationSettings,
  OrganizationState,
  type Tenant,
} from './tenant.ts';

/**
 * Stored with the live organization: its sandbox (docs/specification.md, Sandbox). There is at most one, and
 * it never changes.
 */
export const Pairing = z.object({
  liveOrganizationId: OrgId,
  sandboxOrganizationId: OrgId,
  createdAt: Timestamp,
});
export type Pairing = z.infer<typeof Pairing>;

/** The sandbox, an organization of its own that names its live organization. */
export const Sandbox = z.object({
  id: OrgId,
  environment: z.literal('sandbox'),
  liveOrganizationId: OrgId,
  /** Generation of the current data. */
  generation: z.int().check(z.minimum(FIRST_SANDBOX_GENERATION)),
  resetAt: z.optional(Timestamp),
});
export type Sandbox = z.infer<typeof Sandbox>;

/** Creates an empty sandbox with its pairing. */
export function createSandbox(liveOrganizationId: OrgId, now: Date): { pairing: Pairing; sandbox: Sandbox } {
  const id = newId('org', now);
  const generation = FIRST_SANDBOX_GENERATION;
  return {
    pairing: { liveOrganizationId, sandboxOrganizationId: id, createdAt: now.toISOString() },
    sandbox: { id, environment: 'sandbox', liveOrganizationId, generation },
  };
}

/** For the log only: the caller gets the same answer as for any invalid key. */
export type RoutingRefusal = 'unpaired' | 'foreign pairing' | 'no such sandbox' | 'not its sandbox';

/**
 * Resolves the tenant of a request with a sandbox key: the sandbox of the key's live organization, when
 * pairing and sandbox name each other (docs/specification.md, Authentication).
 * @param pairing stored with the key's organization
 * @param sandbox the organization that the pairing names, if it exists
 */
export function routeToEnvironment(
  { orgId, environment }: Pick<ApiKey, 'orgId' | 'environment'>,
  pairing: Pairing | undefined,
  sandbox: Sandbox | undefined,
): { kind: 'routed'; tenant: Tenant } | { kind: 'refused'; why: RoutingRefusal } {
  const refuse = (why: RoutingRefusal) => ({ kind: 'refused', why }) as const;
  if (environment !== 'sandbox' || pairing === undefined) return refuse('unpaired');
  if (pairing.liveOrganizationId !== orgId || pairing.sandboxOrganizationId === orgId)
    return refuse('foreign pairing');
  if (sandbox === undefined || sandbox.id !== pairing.sandboxOrganizationId) return refuse('no such sandbox');
  if (sandbox.liveOrganizationId !== orgId || !isSandbox(sandbox)) return refuse('not its sandbox');
  return { kind: 'routed', tenant: { orgId: sandbox.id, generation: sandbox.generation } };
}

/**
 * Reads an organization's state consistently. Separate from the store to keep bundles small.
 * @throws a zod error when the row is contradictory
 */
export function readOrganizationState(service: Table) {
  return async (id: OrgId): Promise<OrganizationState | undefined> => {
    const row = await get(service, keys.organization(id));
    return row && OrganizationState.parse(row);
  };
}

/** Condition that a sandbox's generation is current. Empty for live data, which has one generation. */
export function buildCurrentCondition(service: Pick<Table, 'name'>, tenant: Tenant): Change[] {
  if (!isSandbox(tenant)) return [];
  const isCurrent = expression`generation = ${tenant.generation}`;
  return [
    buildCheck(service, keys.organization(tenant.orgId), { refusal: 'generation-over', if: isCurrent }),
  ];
}

export function organizationStore(service: Table) {
  async function find(id: OrgId): Promise<Organization | undefined> {
    const row = await get(service, keys.organization(id));
    return row && Organization.parse(row);
  }

  return {
    find,

    add(organization: NewOrganization): Change {
      return buildAddition(service, { ...keys.organization(organization.id), ...organization });
    },

    /**
     * Sets only the given settings, so that concurrent saves do not overwrite each other. Refused as
     * `organization-changed` when one of them was changed since the organization was read.
     * @param settings at least one
     */
    buildUpdate(read: Organization, settings: Partial<OrganizationSettings>): Change {
      // A setting without a value has its default, and never loses a value.
      const unchanged = Object.keys(settings).map((name) => {
        const wasRead = read[name as keyof OrganizationSettings];
        return expression`(attribute_not_exists(${attribute(name)}) OR ${attribute(name)} = ${wasRead})`;
      });
      return buildUpdate(service, keys.organization(read.id), {
        refusal: 'organization-changed',
        update: expression`SET ${assign(settings)}`,
        if: all(EXISTS, ...unchanged),
      });
    },
  };
}

/** An organization whose conversations end some days after their last message. */
export const Retention = z.object({
  orgId: OrgId,
  retentionDays: z.int(),
  /** When conversations are looked for again; at once without it. */
  nextAt: z.optional(Timestamp),
});
export type Retention = z.infer<typeof Retention>;

export function retentionStore(service: Table) {
  return {
    /** In the transaction that changes the organization's setting. */
    set: (orgId: OrgId, retentionDays: number): Change =>
      buildPut(service, { ...keys.retention(orgId), orgId, retentionDays }, { refusal: 'exists' }),

    end: (orgId: OrgId): Change => buildDelete(service, keys.retention(orgId), { refusal: 'exists' }),

    async due(now: Date): Promise<Retention[]> {
      const rows = await queryAll(service, { where: expression`pk = ${keys.retentions()}` });
      const all = readRows(service, rows, (row) => Retention.parse(row));
      return all.filter(({ nextAt }) => nextAt === undefined || nextAt <= now.toISOString());
    },

    /** Unless the setting was changed since. */
    async postpone(retention: Retention, nextAt: Date): Promise<void> {
      await update(service, keys.retention(retention.orgId), {
        update: expression`SET nextAt = ${nextAt.toISOString()}`,
        if: unchanged(retention, ['retentionDays', 'nextAt']),
      });
    },
  };
}

/**
 * Reads a live organization's pairing, and the organization that it names if that is a sandbox, consistently,
 * so that the next request sees a reset. Separate from the store, because every function with API key
 * authentication loads it.
 */
export function readPairing(service: Table) {
  return async (liveOrgId: OrgId): Promise<{ pairing?: Pairing; sandbox?: Sandbox | undefined }> => {
    const { data: pairing } = Pairing.safeParse(await get(service, keys.pairing(liveOrgId)));
    if (pairing === undefined) return {};
    const row = await get(service, keys.organization(pairing.sandboxOrganizationId));
    return { pairing, sandbox: Sandbox.safeParse(row).data };
  };
}

export function sandboxStore(service: Table) {
  return {
    find: readPairing(service),

    /** Creates the pairing and the sandbox; refused as `sandbox-exists` when there is one. */
    create(pairing: Pairing, sandbox: Sandbox, organization: Omit<NewOrganization, 'id'>): Change[] {
      return [
        {
          ...buildAddition(service, { ...keys.pairing(pairing.liveOrganizationId), ...pairing }),
          refusal: 'sandbox-exists',
        },
        buildAddition(service, { ...keys.organization(sandbox.id), ...organization, ...sandbox }),
      ];
    },

    /** Starts the next generation; refused as `generation-over` when it has changed already. */
    nextGeneration(sandbox: Tenant, now: Date): Change {
      return buildUpdate(service, keys.organization(sandbox.orgId), {
        refusal: 'generation-over',
        update: expression`SET ${assign({ generation: sandbox.generation + 1, resetAt: now.toISOString() })}`,
        if: expression`generation = ${sandbox.generation}`,
      });
    },
  };
}

type Load = (orgId: OrgId) => Promise<OrganizationState | undefined>;

/**
 * States of organizations, for workers. A live organization stays live and is cached; a sandbox is read each
 * time, because it may have been reset. Concurrent callers share a read only for a live one.
 */
export function organizationStates(load: Load): { of: Load } {
  const live = new BoundedMap<OrgId, OrganizationState>(10_000);
  const reading = new Map<OrgId, Promise<OrganizationState | undefined>>();

  async function startRead(orgId: OrgId): Promise<OrganizationState | undefined> {
    const begun = load(orgId);
    reading.set(orgId, begun);
    try {
      const state = await begun;
      if (state?.environment === 'live') live.set(orgId, state);
      return state;
    } finally {
      if (reading.get(orgId) === begun) reading.delete(orgId);
    }
  }

  return {
    async of(orgId) {
      const cached = live.get(orgId);
      if (cached !== undefined) return cached;
      const begun = reading.get(orgId);
      if (begun === undefined) return startRead(orgId);
      const shared = await begun.catch(() => undefined);
      return shared?.environment === 'live' ? shared : startRead(orgId);
    },
  };
}

export type OrganizationStates = ReturnType<typeof organizationStates>;

/** The organization or generation of some data cannot be established. Retry later. */
export class UnknownTenant extends Error {
  override name = 'UnknownTenant';
}

/**
 * Tells current data from data that a reset deleted. The caller drops deleted data silently: the purge
 * removes its rows.
 * @throws UnknownTenant, and what the read throws
 */
export function createGenerationCheck(organizations: OrganizationStates) {
  return async ({ orgId, generation }: Tenant): Promise<'current' | 'over'> => {
    const state = await organizations.of(orgId);
    if (state === undefined) throw new UnknownTenant(`there is no organization ${orgId}`);
    if (generation > state.generation)
      throw new UnknownTenant(`${orgId} is at generation ${state.generation}, before ${generation}`);
    return generation === state.generation ? 'current' : 'over';
  };
}
