import { GetCommand } from '@aws-sdk/lib-dynamodb';
import type { OrgId } from '../domain/ids.ts';
import { Pairing, Sandbox } from '../domain/sandbox.ts';
import {
  isSandbox,
  type NewOrganization,
  Organization,
  type OrganizationSettings,
  OrganizationState,
  type Tenant,
} from '../domain/tenant.ts';
import { keys } from './keys.ts';
import type { Table } from './table.ts';
import { buildAddition, type Change } from './transaction.ts';

/**
 * Reads an organization's state consistently. Separate from the store to keep bundles small.
 * @throws a zod error when the row is contradictory
 */
export function readOrganizationState(service: Table) {
  return async (id: OrgId): Promise<OrganizationState | undefined> => {
    const { Item } = await service.client.send(
      new GetCommand({ TableName: service.name, Key: keys.organization(id), ConsistentRead: true }),
    );
    return Item && OrganizationState.parse(Item);
  };
}

/** Condition that a sandbox's generation is current. Empty for live data, which has one generation. */
export const buildCurrentCondition = (service: Pick<Table, 'name'>, tenant: Tenant): Change[] =>
  isSandbox(tenant)
    ? [
        {
          refusal: 'generation-over',
          write: {
            ConditionCheck: {
              TableName: service.name,
              Key: keys.organization(tenant.orgId),
              ConditionExpression: 'generation = :generation',
              ExpressionAttributeValues: { ':generation': tenant.generation },
            },
          },
        },
      ]
    : [];

export function organizationStore(service: Table) {
  async function find(id: OrgId): Promise<Organization | undefined> {
    const { Item } = await service.client.send(
      new GetCommand({ TableName: service.name, Key: keys.organization(id), ConsistentRead: true }),
    );
    return Item && Organization.parse(Item);
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
      const given = Object.entries(settings);
      const names = given.map(([name]) => name);
      // A setting without a value has its default, and never loses a value.
      const unchanged = names.map((name) => `(attribute_not_exists(#${name}) OR #${name} = :${name}WasRead)`);
      return {
        refusal: 'organization-changed',
        write: {
          Update: {
            TableName: service.name,
            Key: keys.organization(read.id),
            UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')}`,
            ConditionExpression: ['attribute_exists(pk)', ...unchanged].join(' AND '),
            ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
            ExpressionAttributeValues: Object.fromEntries(
              given.flatMap(([name, value]) => [
                [`:${name}`, value],
                [`:${name}WasRead`, read[name as keyof OrganizationSettings]],
              ]),
            ),
          },
        },
      };
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
  const read = async (key: Record<string, string>) => {
    const { Item } = await service.client.send(
      new GetCommand({ TableName: service.name, Key: key, ConsistentRead: true }),
    );
    return Item;
  };
  return async (liveOrgId: OrgId): Promise<SandboxPairing> => {
    const pairing = Pairing.safeParse(await read({ ...keys.pairing(liveOrgId) }));
    if (!pairing.success) return { pairing: undefined, sandbox: undefined };
    const sandbox = Sandbox.safeParse(
      await read({ ...keys.organization(pairing.data.sandboxOrganizationId) }),
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
      return {
        refusal: 'generation-over',
        write: {
          Update: {
            TableName: service.name,
            Key: keys.organization(sandbox.orgId),
            UpdateExpression: 'SET generation = :next, resetAt = :now',
            ConditionExpression: 'generation = :generation',
            ExpressionAttributeValues: {
              ':generation': sandbox.generation,
              ':next': sandbox.generation + 1,
              ':now': now.toISOString(),
            },
          },
        },
      };
    },
  };
}
