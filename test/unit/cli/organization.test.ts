import { describe, expect, it } from 'vitest';
import { ensureOrganization } from '../../../lib/local-run/start/organization.ts';

const enrolled = {
  organizationId: 'org_new',
  key: { id: 'key_1', secretOnce: 'ck_live_new', environment: 'live', scopes: [] },
};
const kept = { id: 'org_old', apiKey: 'ck_live_old' };

describe('the organization of the local run', () => {
  it('is kept while its key works', async () => {
    const result = await ensureOrganization({
      name: 'Local organization',
      kept,
      accepts: async (key) => key === 'ck_live_old',
      enrol: async () => expect.unreachable(),
    });
    expect(result).toEqual({ organization: kept, isNew: false });
  });

  it.each([
    ['there is none', undefined],
    ['its key is refused', kept],
  ])('is created when %s', async (_, existing) => {
    const requests: unknown[] = [];
    const result = await ensureOrganization({
      name: 'Local organization',
      kept: existing,
      accepts: async () => false,
      enrol: async (request) => {
        requests.push(request);
        return enrolled;
      },
    });
    expect(result).toEqual({ organization: { id: 'org_new', apiKey: 'ck_live_new' }, isNew: true });
    expect(requests).toEqual([{ name: 'Local organization', tier: 'scale' }]);
  });

  it('lists what the enrolment did not return', async () => {
    const without = ensureOrganization({
      name: 'Local organization',
      kept: undefined,
      accepts: async () => false,
      enrol: async () => ({ organizationId: 'org_new', key: {} }),
    });
    await expect(without).rejects.toThrow('key.secretOnce');
  });
});
