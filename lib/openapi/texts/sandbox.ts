import * as settings from '../../../functions/api/settings/schemas.ts';
import * as examples from '../example-values.ts';
import { described, type OperationText } from '../operation-text.ts';

const { sandboxOrganizationId, lastResetAt } = examples.sandbox;

export const operations = {
  provisionSandbox: {
    tag: 'Sandbox',
    atMost: { reads: 3, writes: 10 },
    description: `Makes the organization’s sandbox if it has none, and issues a key for it. There is one sandbox at most: each further call
issues another key for the same one, and \`provisioned\` is false. The key works from the answer on, which shows it in \`secretOnce\`,
once.

Keys of the sandbox are in the organization’s list of keys, and are revoked there (\`revokeApiKey\`). The operation takes no
\`Idempotency-Key\`. If no answer arrives, look into the list for a key that you did not store, and revoke it.`,
    body: { name: examples.sandboxKey.name, scopes: examples.sandboxKey.scopes },
    answer: 'The sandbox, and a key for it.',
    data: {
      sandboxOrganizationId,
      provisioned: true,
      key: { ...examples.sandboxKey, secretOnce: examples.sandboxKeySecret },
    },
    location: `/api/settings/api-keys/${examples.sandboxKey.id}`,
  },
  readSandbox: {
    tag: 'Sandbox',
    atMost: { reads: 4, writes: 2 },
    description:
      'Which sandbox the organization has, and since when. `NOT_FOUND` where it has none. Its keys are in the organization’s list of keys.',
    answer: 'The sandbox.',
    data: examples.sandbox,
  },
  resetSandbox: {
    tag: 'Sandbox',
    atMost: { reads: 3, writes: 6 },
    description: `Deletes the data of the sandbox: conversations, messages, escalation logs, tickets, events, deliveries with their counts, and
the answers stored for \`Idempotency-Key\`s. It is empty when the answer arrives, however much there was: lists are empty, old
identifiers name nothing, old cursors are refused, and deliveries in progress are dropped. Its keys and its webhook endpoints stay, with
their secrets, their status and their count of failures. What is live is not touched.

Refused with \`SANDBOX_NOT_PROVISIONED\` where the organization has no sandbox. A repetition resets once more. Where several resets come at the same time, one that finds the sandbox just reset tells when
that was.`,
    answer: 'The sandbox is empty.',
    data: { sandboxOrganizationId, resetAt: lastResetAt },
  },
} as const satisfies Record<string, OperationText>;

const SANDBOX_ID = 'Identifies the sandbox organization. Events in the sandbox call it `orgId`.';

/** The schemas of answers. */
export const answers = {
  Sandbox: described(settings.Sandbox, {
    sandboxOrganizationId: SANDBOX_ID,
    createdAt: 'When it was provisioned, UTC.',
    lastResetAt: 'When it was last reset, UTC; null when it never was.',
    purge:
      'The progress of the deletion while data from before a reset is still stored; no request can read it. Null otherwise.',
  }),
  Purge: described(settings.Purge, {
    since: 'The earliest reset whose data is not deleted yet, UTC.',
    deleted: 'How many rows were deleted since.',
  }),
  ProvisionedSandbox: described(settings.ProvisionedSandbox, {
    sandboxOrganizationId: SANDBOX_ID,
    provisioned: 'Whether this call made the sandbox; false when there was one already.',
    key: 'A new key of the sandbox, with `secretOnce`.',
  }),
  ResetSandbox: described(settings.ResetSandbox, {
    sandboxOrganizationId: SANDBOX_ID,
    resetAt: 'When it was reset, UTC. Nothing that was in it before can be seen any more.',
  }),
};
