/** What a key may be allowed (decisions.md, Authentication): all of it. */
export const ALL_SCOPES = [
  'read:webhooks',
  'write:webhooks',
  'read:conversations',
  'write:conversations',
  'read:knowledge',
  'write:knowledge',
] as const;
