import * as settings from '../../../functions/api/settings/schemas.ts';
import * as examples from '../example-values.ts';
import { CREATED, described, type OperationText } from '../operation-text.ts';

export const operations = {
  readSession: {
    tag: 'Organization',
    atMost: { reads: 2, writes: 2 },
    description:
      'Who is signed in, as what, and when the session ends. A role that is taken away meanwhile is kept until then.',
    answer: 'The person and the session.',
    data: examples.signedIn,
  },
  readOrganization: {
    tag: 'Organization',
    atMost: { reads: 2, writes: 2 },
    description: 'The organization of the session and its settings.',
    answer: 'The organization.',
    data: examples.organization,
  },
  updateOrganization: {
    tag: 'Organization',
    atMost: { reads: 1, writes: 3 },
    description:
      'Changes the settings that are given; the others stay. Name, environment and tier are not among them: they are ignored.',
    body: { contentChangeThreshold: 35 },
    answer: 'The organization as it is now.',
    data: { ...examples.organization, contentChangeThreshold: 35 },
  },
  readUsage: {
    tag: 'Organization',
    atMost: { reads: 8, writes: 2 },
    description: `What the organization has used, counted by month: conversations that were started and messages that were recorded.
Each counts once, however often its request was repeated. Nothing of the sandbox counts.

The counts are some seconds behind. After its end a month can still grow, by what was counted late.`,
    answer: 'The counts of the months asked for.',
    data: examples.usage,
  },
  createApiKey: {
    tag: 'API keys',
    atMost: { reads: 1, writes: 6 },
    description: `Makes a live API key; keys of the sandbox come from \`provisionSandbox\`. The answer shows it in \`secretOnce\`, once: the service keeps nothing but its digest. Give each
program a key of its own, with just the scopes it needs, so that it can be revoked alone.

The operation takes no \`Idempotency-Key\`. If no answer arrives, look into the list for a key that you did not store, and revoke it.`,
    body: { name: examples.apiKey.name, scopes: examples.apiKey.scopes },
    answer: 'The key.',
    data: { ...examples.apiKey, secretOnce: examples.apiKeySecret },
    location: `/api/settings/api-keys/${examples.apiKey.id}`,
  },
  listApiKeys: {
    tag: 'API keys',
    atMost: { reads: 80, writes: 2 },
    description:
      'The organization’s keys, newest first: live ones and those of its sandbox, revoked ones included. Never with the keys themselves.',
    answer: 'A page of keys.',
    data: [examples.sandboxKey, examples.usedApiKey, examples.revokedApiKey],
  },
  revokeApiKey: {
    tag: 'API keys',
    atMost: { reads: 2, writes: 6 },
    description: `Revokes a key, of the organization or of its sandbox. It takes effect at the next request with it, and cannot be undone. The key stays in the list.

A key that does not exist, or is revoked already, is a success as well, so that a repetition is safe.`,
    answer: 'There is no such key that works.',
  },
} as const satisfies Record<string, OperationText>;

const SCOPES =
  'What the key may do. A `write:` scope implies the `read:` scope of the same resource. Each scope at most once.';

const organizationSettings = {
  contentChangeThreshold:
    'How much of an imported source’s text, in percent, must have changed before the admins get an e-mail.',
  contentChangeNotifications: 'Whether admins get e-mails about changed content at all.',
};

const apiKeyFields = {
  id: 'Identifies the key. It is not the key itself.',
  environment: 'The key selects the mode: `live` acts on the organization, `sandbox` on its sandbox.',
  name: 'Label for people.',
  scopes: SCOPES,
  createdAt: CREATED,
  lastUsedAt:
    'When it was last used, UTC, some minutes behind; null when it was not within a year. Refused requests count as well.',
  revokedAt: 'When it was revoked, UTC; null while it works.',
};

/** The schemas of answers. */
export const answers = {
  Organization: described(settings.Organization, {
    id: 'Identifies the organization. Events call it `orgId`.',
    name: 'Its name.',
    environment: '`live`, or `sandbox` for a paired sandbox organization.',
    tier: 'Its rate limit: `sandbox` 60, `standard` 600, `scale` 6,000 requests a minute.',
    ...organizationSettings,
    mailer:
      'Whether this deployment sends e-mail to admins. Where it is `false`, no e-mail is sent, with any settings.',
    createdAt: CREATED,
  }),
  SignedIn: described(settings.SignedIn, {
    userId: 'The issuer’s identifier of the person.',
    email: 'Address of the person, to be shown. `null` where the issuer does not say it.',
    organizationId: 'The organization that the person acts for.',
    organizationName: 'Its name.',
    role: 'A `member` sees, an `admin` also changes.',
    expiresAt: 'When the session ends, unless it is renewed before.',
  }),
  Usage: described(settings.Usage, {
    organizationId: 'The organization.',
    months: 'The months asked for, newest first; those in which nothing was used as well.',
  }),
  UsageOfMonth: described(settings.UsageOfMonth, {
    month: 'The month, UTC: `2026-11`. What is used counts under the month in which it happened.',
    conversations: 'Conversations that were started.',
    messages: 'Messages that were recorded, of every role.',
  }),
  ApiKey: described(settings.ApiKey, apiKeyFields),
  CreatedApiKey: described(settings.CreatedApiKey, {
    ...apiKeyFields,
    secretOnce: 'The key itself, for `Authorization: Bearer`. Only this answer has it; it is stored nowhere.',
  }),
};

/** The schemas of requests. */
export const bodies = {
  UpdateOrganization: described(settings.UpdateOrganization, {
    contentChangeThreshold: `${organizationSettings.contentChangeThreshold} Left out: stays as it is.`,
    contentChangeNotifications: `${organizationSettings.contentChangeNotifications} Left out: stays as it is.`,
  }),
  CreateApiKey: described(
    settings.CreateApiKey,
    { name: 'Label for people.', scopes: SCOPES },
    { scopes: { uniqueItems: true } },
  ),
};
