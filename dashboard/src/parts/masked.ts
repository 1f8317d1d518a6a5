/** Names of query parameters that have secrets. */
const NAMES = /token|secret|key|sig|auth|pass|cred/i;
/** A long word of letters and digits. */
const RANDOM = /^(?=.*\d)(?=.*[a-z])[\w.~+/=%-]{16,}$/i;

/** A URL whose query values that look like secrets are hidden: pages are shared and photographed. */
export function masked(url: string): string {
  const at = url.indexOf('?') + 1;
  if (at === 0) return url;
  const parts = url.slice(at).split('&');
  return `${url.slice(0, at)}${parts.map(maskedPart).join('&')}`;
}

function maskedPart(part: string): string {
  const at = part.indexOf('=') + 1;
  const value = part.slice(at);
  const isSecret = at > 0 && value !== '' && (NAMES.test(part.slice(0, at)) || RANDOM.test(value));
  return isSecret ? `${part.slice(0, at)}••••` : part;
}
