/** Words of the language that are names of fields or parameters. */
const RESERVED = new Set(
  (
    'and as assert async await break class continue def del elif else except finally for from global if import ' +
    'in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
);

/**
 * `externalUserId` → `external_user_id`, `from` → `from_`.
 * @throws Error when the client could not find the first name again, as it does when it sends it
 */
export function toSnakeCase(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const again = words.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  if (again !== name) throw new Error(`${name} has no name in Python`);
  return RESERVED.has(words) ? `${words}_` : words;
}

/** `createConversation` → `CREATE_CONVERSATION`. */
export const toConstant = (name: string): string => toSnakeCase(name).toUpperCase();

export const capitalize = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
