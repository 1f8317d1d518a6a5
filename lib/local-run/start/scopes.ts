/** All scopes of an API key (docs/specification.md, Authentication). */
export const ALL_SCOPES = [
  'read:webhooks',
  'write:webhooks',
  'read:conversations',
  'write:conversations',
  'read:knowledge',
  'write:knowledge',
] as const;
