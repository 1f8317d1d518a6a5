/** Longest host name in the form that DNS can carry (RFC 1035), without the final dot. */
const MAX_NAME_LENGTH = 253;

/** An underscore is no host name by RFC 1123, but occurs below wildcard certificates, and resolves. */
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

const TOP_LEVEL_LABEL = /^(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$/;

/**
 * Names below which nothing public can be: the special-use registry (RFC 6761 `localhost`, `test`, `invalid`,
 * `example`; RFC 6762 `local`; RFC 7686 `onion`; RFC 9476 `alt`; `arpa` with RFC 8375 `home.arpa`), `internal` as
 * reserved by ICANN, the private names of RFC 6762 appendix G, ICANN's never delegated `mail`, and `localdomain`.
 * `example.com` and its siblings are ordinary names in public DNS.
 */
const PRIVATE_TOP_LEVEL_LABELS: ReadonlySet<string> = new Set([
  'alt',
  'arpa',
  'corp',
  'example',
  'home',
  'internal',
  'intranet',
  'invalid',
  'lan',
  'local',
  'localdomain',
  'localhost',
  'mail',
  'onion',
  'private',
  'test',
]);

/**
 * Whether a name can be a host in public DNS. Says nothing of where it leads: that is known only when it is resolved.
 *
 * @param name lower case and punycoded, as the WHATWG URL parser gives it
 */
export function isPublicHostName(name: string): boolean {
  if (name.length > MAX_NAME_LENGTH) return false;

  const labels = name.split('.');
  const topLevel = labels.at(-1) ?? '';
  return (
    labels.length >= 2 &&
    labels.every((label) => LABEL.test(label)) &&
    TOP_LEVEL_LABEL.test(topLevel) &&
    !PRIVATE_TOP_LEVEL_LABELS.has(topLevel)
  );
}
