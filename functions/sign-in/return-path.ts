/** Of what is normalized; a cookie with much more would be refused by browsers. */
const MAX_LENGTH = 1024;
/** Stands for the dashboard's, whatever it is: what matters is whether an address leaves it. */
const HERE = 'https://dashboard.invalid';

/**
 * Where a person goes on after the sign-in: a path of the dashboard's own origin, with query and fragment, as browsers understand it (WHATWG
 * URL). Nothing else, or a link to the sign-in could lead anywhere in our name (CWE-601).
 * @returns undefined for whatever is, or could be taken for, an address elsewhere
 */
export function returnPath(given: string): string | undefined {
  if (!given.startsWith('/')) return undefined;
  // Browsers take a backslash for a slash, and leave out what is not to be seen.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  if (/[\\\u0000-\u0020\u007f]/.test(given)) return undefined;
  const url = URL.parse(given, HERE);
  if (url?.origin !== HERE || url.username !== '' || url.password !== '') return undefined;
  const path = `${url.pathname}${url.search}${url.hash}`;
  // `/.//elsewhere` is a path here, and what is left of it is an address without a scheme.
  return path.startsWith('//') || path.length > MAX_LENGTH ? undefined : path;
}
