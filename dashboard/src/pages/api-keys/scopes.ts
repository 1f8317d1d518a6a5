/** What keys can be allowed, reading before writing. */
export const SCOPES = [
  'read:webhooks',
  'write:webhooks',
  'read:conversations',
  'write:conversations',
  'read:knowledge',
  'write:knowledge',
] as const;
export type Scope = (typeof SCOPES)[number];

/**
 * Permissions after a choice: write access includes read access (docs/specification.md, Authentication), so
 * choosing one adds the other, and removing read access removes write access.
 */
export function chosenScopes(before: readonly Scope[], after: readonly string[]): Scope[] {
  const isChosen = (scope: Scope) => after.includes(scope);
  return SCOPES.filter((scope) => {
    const [verb, resource] = scope.split(':');
    const read = SCOPES.find((each) => each === `read:${resource}`) ?? scope;
    const write = SCOPES.find((each) => each === `write:${resource}`) ?? scope;
    const isReadingTakenAway = before.includes(read) && before.includes(write) && !isChosen(read);
    if (isReadingTakenAway) return false;
    return verb === 'read' ? isChosen(read) || isChosen(write) : isChosen(write);
  });
}

/** A key that was used so shortly before is in use, most likely. */
const IN_USE_MS = 24 * 60 * 60_000;

/** Whether a program most likely still uses a key. @param now milliseconds since the epoch */
export const isInUse = (lastUsedAt: string | null, now: number): boolean =>
  lastUsedAt !== null && now - Date.parse(lastUsedAt) < IN_USE_MS;
