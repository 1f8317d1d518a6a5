import type { Organization } from '../domain/tenant.ts';
import { keys } from './keys.ts';
import type { Table } from './table.ts';
import type { Change } from './transaction.ts';

export function organizationStore(service: Table) {
  return {
    add(organization: Organization): Change {
      return {
        refusal: 'exists',
        write: {
          Put: {
            TableName: service.name,
            Item: { ...keys.organization(organization.id), ...organization },
            ConditionExpression: 'attribute_not_exists(pk)',
          },
        },
      };
    },
  };
}
