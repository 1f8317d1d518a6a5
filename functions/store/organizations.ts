import type { Organization } from '../domain/tenant.ts';
import { keys } from './keys.ts';
import type { Table } from './table.ts';
import { addition, type Change } from './transaction.ts';

export function organizationStore(service: Table) {
  return {
    add(organization: Organization): Change {
      return addition(service, { ...keys.organization(organization.id), ...organization });
    },
  };
}
