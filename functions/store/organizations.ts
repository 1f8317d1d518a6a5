import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { OrgId } from '../domain/ids.ts';
import {
  isOfSandbox,
  type NewOrganization,
  Organization,
  type OrganizationSettings,
  OrganizationStanding,
  type Tenant,
} from '../domain/tenant.ts';
import { keys } from './keys.ts';
import type { Table } from './table.ts';
import { addition, type Change } from './transaction.ts';

/**
 * What has to be known of an organization before anything is done in its name, read consistently. It is apart from the store, so that functions
 * which need no more load no more.
 * @throws a zod error when its row contradicts itself
 */
export function standingOf(service: Table) {
  return async (id: OrgId): Promise<OrganizationStanding | undefined> => {
    const { Item } = await service.client.send(
      new GetCommand({ TableName: service.name, Key: keys.organization(id), ConsistentRead: true }),
    );
    return Item && OrganizationStanding.parse(Item);
  };
}

/**
 * Holds a transaction to the present generation of a sandbox, whose organization no other transaction of its data touches. Live data has but
 * one generation, and needs nothing.
 */
export const stillCurrent = (service: Pick<Table, 'name'>, tenant: Tenant): Change[] =>
  isOfSandbox(tenant)
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
      return addition(service, { ...keys.organization(organization.id), ...organization });
    },

    /** Sets what is given and leaves the rest, also when two admins save at once. Undefined when there is no such organization. */
    async change(id: OrgId, settings: Partial<OrganizationSettings>): Promise<Organization | undefined> {
      const given = Object.entries(settings).filter(([, value]) => value !== undefined);
      if (given.length === 0) return find(id);
      try {
        const { Attributes } = await service.client.send(
          new UpdateCommand({
            TableName: service.name,
            Key: keys.organization(id),
            UpdateExpression: `SET ${given.map(([name]) => `#${name} = :${name}`).join(', ')}`,
            ConditionExpression: 'attribute_exists(pk)',
            ExpressionAttributeNames: Object.fromEntries(given.map(([name]) => [`#${name}`, name])),
            ExpressionAttributeValues: Object.fromEntries(given.map(([name, value]) => [`:${name}`, value])),
            ReturnValues: 'ALL_NEW',
          }),
        );
        return Organization.parse(Attributes);
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return undefined;
        throw error;
      }
    },
  };
}
