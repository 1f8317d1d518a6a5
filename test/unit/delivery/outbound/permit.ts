import { newId, type OrgId } from '../../../../functions/aws/ids.ts';
import { gate, type Permit } from '../../../../functions/tenancy/gate.ts';
import { LIVE_GENERATION } from '../../../../functions/tenancy/tenant.ts';
import { NOW } from '../../../builders.ts';

/** A permit from the gate for a live organization; the gate is the only source of permits. */
export const aPermit = (orgId: OrgId = newId('org', NOW)): Promise<Permit> =>
  gate(async () => ({ environment: 'live', tier: 'standard', generation: LIVE_GENERATION }))(orgId, {
    live: async (permit) => permit,
    sandbox: async () => {
      throw new Error('a live organization was taken for a sandbox');
    },
  });
