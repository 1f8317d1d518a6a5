import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import type { OrgId } from '../domain/ids.ts';
import { type NewOrganization, Organization, type OrganizationSettings, Tier } from '../domain/tenant.ts';
import { keys } from './keys.ts';
import type { Table } from './table.ts';
import { addition, type Change } from './transaction.ts';

const Standing = z.object({ tier: Tier });

/** What every call has to know of its organization. It is apart from the store, so that functions which need no more load no more. */
export function standingOf(service: Table) {
  return async (id: OrgId): Promise<{ tier: Tier } | undefined> => {
    const { Item } = await service.client.send(
      new GetCommand({ TableName: service.name, Key: keys.organization(id), ConsistentRead: true }),
    );
    return Item && Standing.parse(Item);
  };
}

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
