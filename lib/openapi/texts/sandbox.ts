import * as settings from '../../../functions/api/settings/routes.ts';
import * as examples from '../example-values.ts';
import { described, type OperationText } from '../operation-text.ts';

const { sandboxOrganizationId, lastResetAt } = examples.sandbox;

export const operations = {
  provisionSandbox: {
    tag: 'Sandbox',
    summary: 'Provision the sandbox and issue an API key for it',
    mostTokens: 2,
    description: `Creates the organization’s sandbox if there is none, and issues an API key for it. Later calls
issue another key for the same sandbox, with \`provisioned: false\`. The key is shown once, in \`secretOnce\`.

Manage sandbox keys with \`listApiKeys\` and \`revokeApiKey\`. This operation takes no \`Idempotency-Key\`: if
the response is lost, revoke the key that you did not store.`,
    body: { name: examples.sandboxKey.name, scopes: examples.sandboxKey.scopes },
    answer: 'The sandbox and a new key for it.',
    data: {
      sandboxOrganizationId,
      provisioned: true,
      key: { ...examples.sandboxKey, secretOnce: examples.sandboxKeySecret },
    },
    location: `/api/settings/api-keys/${examples.sandboxKey.id}`,
  },
  readSandbox: {
    tag: 'Sandbox',
    summary: 'Read the sandbox of the organization',
    description:
      'Returns the organization’s sandbox, or `NOT_FOUND` if there is none. List its keys with `listApiKeys`.',
    answer: 'The sandbox.',
    data: examples.sandbox,
  },
  resetSandbox: {
    tag: 'Sandbox',
    summary: 'Reset the sandbox',
    mostTokens: 22,
    description: `Deletes the data of the sandbox: conversations, messages, escalation logs, tickets, sources,
events, deliveries with their counts, redelivery jobs, and the responses stored for \`Idempotency-Key\`s. From
this response on, lists are empty, old identifiers do not exist, old cursors are rejected, and deliveries in
progress are dropped. API keys, webhook endpoints and channels stay with their secrets, and endpoints and
channels are active again without failures. Live data is not affected.

Fails with \`SANDBOX_NOT_PROVISIONED\` if the organization has no sandbox. A repeated call resets again;
concurrent calls may return the same reset.`,
    answer: 'The sandbox is reset.',
    data: { sandboxOrganizationId, resetAt: lastResetAt },
  },
} as const satisfies Record<string, OperationText>;

const SANDBOX_ID = 'Identifier of the sandbox organization, `orgId` in its events.';

/** The schemas of answers. */
export const answers = {
  Sandbox: described(settings.Sandbox, {
    sandboxOrganizationId: SANDBOX_ID,
    createdAt: 'When it was provisioned, UTC.',
    lastResetAt: 'When it was last reset, UTC; null if never.',
    purge: 'Progress of a reset while its data, which no request can read, is being deleted. Null otherwise.',
  }),
  Purge: described(settings.Purge, {
    since: 'Time of the earliest reset whose data is not completely deleted, UTC.',
    deleted: 'Number of rows deleted since.',
  }),
  ProvisionedSandbox: described(settings.ProvisionedSandbox, {
    sandboxOrganizationId: SANDBOX_ID,
    provisioned: 'Whether this call created the sandbox.',
    key: 'A new sandbox key, with `secretOnce`.',
  }),
  SandboxReset: described(settings.ResetSandbox, {
    sandboxOrganizationId: SANDBOX_ID,
    resetAt: 'Time of the reset, UTC. Earlier data is no longer visible.',
  }),
};
