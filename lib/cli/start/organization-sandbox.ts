import { z } from 'zod';
import { callApi, expectStatus, readBody } from '../api-call.ts';
import { ALL_SCOPES } from './scopes.ts';

const PATH = '/api/settings/sandbox/provision';
const NAME = 'Local sandbox';
const Provisioned = z.object({
  data: z.object({ sandboxOrganizationId: z.string(), key: z.object({ secretOnce: z.string() }) }),
});

/** The sandbox of the local organization, with a key of it. */
export interface OrganizationSandbox {
  id: string;
  apiKey: string;
}

/**
 * The sandbox of an earlier run when its key still works, else the organization's own with a new key, and
 * made if need be.
 * @param options.accepts whether the API takes a key
 * @param options.provision asks the service for the sandbox and a key
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
 * @throws LocalRunError when the answer is not a sandbox with a key
 */
export async function provisionSandbox(baseUrl: string, adminToken: string): Promise<OrganizationSandbox> {
  const body = { name: NAME, scopes: ALL_SCOPES };
  const answer = await callApi(baseUrl, { method: 'POST', path: PATH, bearer: adminToken, body });
  expectStatus(answer, 201, `POST ${PATH}`);
  const { sandboxOrganizationId, key } = readBody(Provisioned, answer, `POST ${PATH}`).data;
  return { id: sandboxOrganizationId, apiKey: key.secretOnce };
}
