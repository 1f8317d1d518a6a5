import * as cast from '../cast.ts';
import type { OperationText } from '../operation-text.ts';

export const SETTINGS_TEXTS = {
  readSession: {
    tag: 'Organization',
    description:
      'Who is signed in, as what, and when the session ends. A role that is taken away meanwhile is kept until then.',
    answer: 'The person and the session.',
    data: cast.signedIn,
  },
  readOrganization: {
    tag: 'Organization',
    description: 'The organization of the session and its settings.',
    answer: 'The organization.',
    data: cast.organization,
  },
  updateOrganization: {
    tag: 'Organization',
    description:
      'Changes the settings that are given; the others stay. Name, environment and tier are not among them: they are ignored.',
    body: { contentChangeThreshold: 35 },
    answer: 'The organization as it is now.',
    data: { ...cast.organization, contentChangeThreshold: 35 },
  },
  readUsage: {
    tag: 'Organization',
    description: `What the organization has used, counted by month: conversations that were started and messages that were recorded.
Each counts once, however often its request was repeated. Nothing of the sandbox counts.

The counts are some seconds behind. After its end a month can still grow, by what was counted late.`,
    answer: 'The counts of the months asked for.',
    data: cast.usage,
  },
  createApiKey: {
    tag: 'API keys',
    description: `Makes a live API key; keys of the sandbox come from \`provisionSandbox\`. The answer shows it in \`secretOnce\`, once: the service keeps nothing but its digest. Give each
program a key of its own, with just the scopes it needs, so that it can be revoked alone.

The operation takes no \`Idempotency-Key\`. If no answer arrives, look into the list for a key that nobody knows, and revoke it.`,
    body: { name: cast.apiKey.name, scopes: cast.apiKey.scopes },
    answer: 'The key.',
    data: { ...cast.apiKey, secretOnce: cast.apiKeySecret },
    location: `/api/settings/api-keys/${cast.apiKey.id}`,
  },
  listApiKeys: {
    tag: 'API keys',
    description:
      'The organization’s keys, newest first: live ones and those of its sandbox, revoked ones included. Never with the keys themselves.',
    answer: 'A page of keys.',
    data: [cast.sandboxKey, cast.usedApiKey, cast.revokedApiKey],
  },
  revokeApiKey: {
    tag: 'API keys',
    description: `Revokes a key, of the organization or of its sandbox. It takes effect at the next request with it, and cannot be undone. The key stays in the list.

A key that does not exist, or is revoked already, is a success as well, so that a repetition is safe.`,
    answer: 'There is no such key that works.',
  },
} as const satisfies Record<string, OperationText>;
