import { all, assign, attribute, expression } from '../aws/expression.ts';
import type { OrgId } from '../aws/ids.ts';
import { buildCheck, buildUpdate, EXISTS, get, type Table } from '../aws/table.ts';
import { buildAddition, type Change } from '../aws/transaction.ts';
import { keys } from './keys.ts';
import { Pairing, Sandbox } from './sandbox.ts';
import {
  isSandbox,
  type NewOrganization,
  Organization,
  type OrganizationSettings,
  OrganizationState,
  type Tenant,
} from './tenant.ts';

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
export const buildCurrentCondition = (service: Pick<Table, 'name'>, tenant: Tenant): Change[] =>
  isSandbox(tenant)
    ? [
        buildCheck(service, keys.organization(tenant.orgId), {
          refusal: 'generation-over',
          if: expression`generation = ${tenant.generation}`,
        }),
      ]
    : [];

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

export interface SandboxPairing {
  pairing: Pairing | undefined;
  /** The organization that the pairing names, if it is a sandbox. */
  sandbox: Sandbox | undefined;
}

/**
 * Reads a live organization's pairing and sandbox consistently, so that the next request sees a reset.
 * Separate from the store, because every function with API key authentication loads it.
 */
export function readPairing(service: Table) {
  return async (liveOrgId: OrgId): Promise<SandboxPairing> => {
    const pairing = Pairing.safeParse(await get(service, keys.pairing(liveOrgId)));
    if (!pairing.success) return { pairing: undefined, sandbox: undefined };
    const sandbox = Sandbox.safeParse(
      await get(service, keys.organization(pairing.data.sandboxOrganizationId)),
    );
    return { pairing: pairing.data, sandbox: sandbox.data };
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
