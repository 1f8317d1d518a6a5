import { GetCommand } from '@aws-sdk/lib-dynamodb';
import type { OrgId } from '../domain/ids.ts';
import { Pairing, Sandbox } from '../domain/sandbox.ts';
import type { NewOrganization, Tenant } from '../domain/tenant.ts';
import { keys } from './keys.ts';
import type { Table } from './table.ts';
import { addition, type Change } from './transaction.ts';

export interface Paired {
  pairing: Pairing | undefined;
  /** The organization that the pairing names, if it is a sandbox. */
  sandbox: Sandbox | undefined;
}

/**
 * The pairing of a live organization, and its sandbox, both read consistently: a reset is seen by the next request. Apart from the store,
 * because every function that takes keys loads it.
 */
export function pairingOf(service: Table) {
  const read = async (key: Record<string, string>) => {
    const { Item } = await service.client.send(
      new GetCommand({ TableName: service.name, Key: key, ConsistentRead: true }),
    );
    return Item;
  };
  return async (liveOrgId: OrgId): Promise<Paired> => {
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
    find: pairingOf(service),

    /** Makes the pairing and its organization; refused as `sandbox-exists` when there is one already. */
    create(pairing: Pairing, sandbox: Sandbox, organization: Omit<NewOrganization, 'id'>): Change[] {
      return [
        {
          ...addition(service, { ...keys.pairing(pairing.liveOrganizationId), ...pairing }),
          refusal: 'sandbox-exists',
        },
        addition(service, { ...keys.organization(sandbox.id), ...organization, ...sandbox }),
      ];
    },

    /** Moves on to the next generation; refused as `generation-over` when it has moved already. */
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
