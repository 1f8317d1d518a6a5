import { z } from 'zod';
import { callApi, expectStatus, readBody } from '../../../packages/cli/src/api-call.ts';
import { ALL_SCOPES } from './scopes.ts';

const PATH = '/api/settings/sandbox/provision';
const NAME = 'Local sandbox';
const Provisioned = z.object({
  data: z.object({ sandboxOrganizationId: z.string(), key: z.object({ secretOnce: z.string() }) }),
});

/** Sandbox of the local organization, with an API key. */
export interface OrganizationSandbox {
  id: string;
  apiKey: string;
}

/**
 * Reuses an earlier run's sandbox while its key is valid, else provisions the organization's with a new key.
 * @param options.accepts whether the API accepts a key
 * @param options.provision requests the sandbox and a key
 */
export async function ensureSandbox(options: {
  kept: OrganizationSandbox | undefined;
  accepts(apiKey: string): Promise<boolean>;
  provision(): Promise<OrganizationSandbox>;
}): Promise<OrganizationSandbox> {
  const { kept } = options;
  return kept !== undefined && (await options.accepts(kept.apiKey)) ? kept : options.provision();
}

/**
 * Provisions the sandbox by the public route (docs/specification.md, Sandbox).
 * @param adminToken of an admin of the organization
 * @throws UserError when the response is not a sandbox with a key
 */
export async function provisionSandbox(baseUrl: string, adminToken: string): Promise<OrganizationSandbox> {
  const body = { name: NAME, scopes: ALL_SCOPES };
  const answer = await callApi(baseUrl, { method: 'POST', path: PATH, bearer: adminToken, body });
  expectStatus(answer, 201, `POST ${PATH}`);
  const { sandboxOrganizationId, key } = readBody(Provisioned, answer, `POST ${PATH}`).data;
  return { id: sandboxOrganizationId, apiKey: key.secretOnce };
}
