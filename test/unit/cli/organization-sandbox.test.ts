import { describe, expect, it } from 'vitest';
import { ensureSandbox } from '../../../lib/local-run/start/organization-sandbox.ts';

const kept = { id: 'org_sandbox', apiKey: 'ck_sandbox_kept' };
const provisioned = { id: 'org_sandbox', apiKey: 'ck_sandbox_new' };

describe('the sandbox of the local organization', () => {
  it('keeps its key while the key works', async () => {
    const sandbox = ensureSandbox({
      kept,
      accepts: async (key) => key === kept.apiKey,
      provision: async () => expect.unreachable(),
    });
    expect(await sandbox).toEqual(kept);
  });

  it.each([
    ['there is none', undefined],
    ['its key is refused', kept],
  ])('is provisioned when %s', async (_, earlier) => {
    const options = { kept: earlier, accepts: async () => false, provision: async () => provisioned };
    expect(await ensureSandbox(options)).toEqual(provisioned);
  });
});
