import type { PoolUser } from './pool-user.ts';

/** Searchable attributes (API reference, ListUsers); custom ones are not. */
const SEARCHABLE = [
  'username',
  'sub',
  'email',
  'phone_number',
  'name',
  'given_name',
  'family_name',
  'preferred_username',
  'cognito:user_status',
  'status',
];
/**
 * Compared case-insensitively: aliases of a pool that is not case-sensitive, and the status (API reference).
 */
const CASELESS = ['email', 'preferred_username', 'cognito:user_status'];

const FORM = /^\s*"?([\w:]+)"?\s*(=|\^=)\s*"((?:[^"\\]|\\.)*)"\s*$/s;

/**
 * Compiles a `Filter` of ListUsers: an attribute, `=` (equal) or `^=` (prefix), and a quoted text.
 * @returns undefined for a filter that Cognito would reject
 */
export function compileUserFilter(filter: string): ((user: PoolUser) => boolean) | undefined {
  if (filter === '') return () => true;
  const [, name = '', operator, quoted = ''] = FORM.exec(filter) ?? [];
  if (!SEARCHABLE.includes(name)) return undefined;
  const fold = (text: string) => (CASELESS.includes(name) ? text.toLowerCase() : text);
  const wanted = fold(quoted.replaceAll(/\\(.)/gs, '$1'));
  return (user) => {
    const value = searchedIn(user, name);
    if (value === undefined) return false;
    return operator === '=' ? fold(value) === wanted : fold(value).startsWith(wanted);
  };
}

function searchedIn(
  { Username, Attributes, Enabled, UserStatus }: PoolUser,
  name: string,
): string | undefined {
  if (name === 'username') return Username;
  if (name === 'status') return Enabled ? 'Enabled' : 'Disabled';
  if (name === 'cognito:user_status') return UserStatus;
  return Attributes.find(({ Name }) => Name === name)?.Value;
}
