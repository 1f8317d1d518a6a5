import * as settings from '../../../functions/api/settings/routes.ts';
import * as examples from '../example-values.ts';
import { CREATED, described, type OperationText } from '../operation-text.ts';

export const operations = {
  readSession: {
    tag: 'Organization',
    summary: 'Read the signed-in user',
    description:
      'Returns the signed-in user, their organization and role, and when the session expires. A role that is removed stays in effect until then.',
    answer: 'The user and the session.',
    data: examples.signedIn,
  },
  readOrganization: {
    tag: 'Organization',
    summary: 'Read the organization and its settings',
    description: 'Returns the organization of the session with its settings.',
    answer: 'The organization.',
    data: examples.organization,
  },
  updateOrganization: {
    tag: 'Organization',
    summary: 'Update the settings of the organization',
    description:
      'Changes the given settings; the others keep their values. Name, environment and tier cannot be changed.',
    body: { contentChangeThreshold: 35 },
    answer: 'The updated organization.',
    data: { ...examples.organization, contentChangeThreshold: 35 },
  },
  readUsage: {
    tag: 'Organization',
    summary: 'Read the usage of the organization',
    description: `Returns the organization’s usage by month: conversations started and messages recorded. A
repeated request counts once. The sandbox does not count.

Counts lag by a few seconds, so a month can still grow after its end.`,
    answer: 'The counts by month.',
    data: examples.usage,
  },
  createApiKey: {
    tag: 'API keys',
    summary: 'Create an API key',
    description: `Creates a live API key; sandbox keys come from \`provisionSandbox\`. The key is shown once, in
\`secretOnce\`; the service stores only its digest. Give each program its own key with only the scopes it needs.

This operation takes no \`Idempotency-Key\`: if the response is lost, revoke the key that you did not store.`,
    body: { name: examples.apiKey.name, scopes: examples.apiKey.scopes },
    answer: 'The API key.',
    data: { ...examples.apiKey, secretOnce: examples.apiKeySecret },
    location: `/api/settings/api-keys/${examples.apiKey.id}`,
  },
  listApiKeys: {
    tag: 'API keys',
    summary: 'List API keys',
    description:
      'Returns the organization’s live and sandbox keys, newest first, including revoked ones. Secrets are not included.',
    answer: 'A page of API keys.',
    data: [examples.sandboxKey, examples.usedApiKey, examples.revokedApiKey],
  },
  revokeApiKey: {
    tag: 'API keys',
    summary: 'Revoke an API key',
    description: `Revokes a live or sandbox key of the organization, permanently and from the next request on.
The key stays in the list.

Revoking a key that is already revoked or does not exist succeeds, so retries are safe.`,
    answer: 'The API key is revoked.',
  },
} as const satisfies Record<string, OperationText>;

const SCOPES =
  'Scopes of the key, each at most once. A `write:` scope implies the `read:` scope of the same resource.';

const organizationSettings = {
  contentChangeThreshold: 'Percentage of a source’s text that must change before admins get an e-mail.',
  contentChangeNotifications: 'Whether admins get e-mails about changed content.',
  retentionDays:
    'Days after its last message for which a conversation is kept, from 30 to 3650. Then it is erased as by `deleteConversation`, within a day. Null without an end.',
};

const apiKeyFields = {
  id: 'Identifier of the key, not the key itself.',
  environment: '`live` keys act on the organization, `sandbox` keys on its sandbox.',
  name: 'Display name.',
  scopes: SCOPES,
  createdAt: CREATED,
  lastUsedAt:
    'When it was last used, UTC, some minutes behind; null if not within a year. Rejected requests count.',
  revokedAt: 'When it was revoked, UTC; null while it is valid.',
};

/** The schemas of answers. */
export const answers = {
  Organization: described(settings.Organization, {
    id: 'Identifier of the organization, `orgId` in events.',
    name: 'Name of the organization.',
    environment: '`live`, or `sandbox` for a paired sandbox organization.',
    tier: 'Rate-limit tier: `sandbox` 60, `standard` 600, `scale` 6,000 requests a minute.',
    ...organizationSettings,
    mailer:
      'Whether this deployment sends e-mail to admins. If `false`, no e-mail is sent, regardless of the settings.',
    createdAt: CREATED,
  }),
  Session: described(settings.SignedIn, {
    userId: 'Identifier of the user at the issuer.',
    email: 'E-mail address to display; null if the issuer does not provide one.',
    organizationId: 'The organization of the user.',
    organizationName: 'Name of the organization.',
    role: 'A `member` can read; an `admin` can also write.',
    expiresAt: 'When the session expires unless it is renewed.',
  }),
  Usage: described(settings.Usage, {
    organizationId: 'The organization.',
    months: 'Requested months, newest first, including those without usage.',
  }),
  UsageOfMonth: described(settings.UsageOfMonth, {
    month: 'Month of the usage, UTC, for example `2026-11`.',
    conversations: 'Conversations started.',
    messages: 'Messages recorded, of every role.',
  }),
  ApiKey: described(settings.ApiKey, apiKeyFields),
  CreatedApiKey: described(settings.CreatedApiKey, {
    ...apiKeyFields,
    secretOnce: 'The key, for `Authorization: Bearer`. Returned by this operation only; it is not stored.',
  }),
};

/** The schemas of requests. */
export const bodies = {
  UpdateOrganization: described(
    settings.UpdateOrganization,
    {
      contentChangeThreshold: `${organizationSettings.contentChangeThreshold} At most two decimals. Omit to keep it.`,
      contentChangeNotifications: `${organizationSettings.contentChangeNotifications} Omit to keep it.`,
      retentionDays: `${organizationSettings.retentionDays} Omit to keep it.`,
    },
    { contentChangeThreshold: { multipleOf: 0.01 } },
  ),
  CreateApiKey: described(
    settings.CreateApiKey,
    { name: 'Display name.', scopes: SCOPES },
    { scopes: { uniqueItems: true } },
  ),
};
