import type { FieldError, FieldErrorCode } from '../http/problem.ts';

export const MAX_RECEIVER_URL_LENGTH = 2048;

/** The constraint that a URL does not meet. */
export interface UrlFault extends Pick<FieldError, 'code' | 'limit'> {
  /** For an API response: completes a sentence, and never repeats the URL. */
  problem: string;
}

/** Privileged ports other than 443 belong to services that must not receive webhooks (SSH, SMTP, …). */
const FIRST_UNPRIVILEGED_PORT = 1024;

/**
 * Parses the text of a receiver's URL, by the rules that hold in every deployment. Text that the WHATWG URL
 * parser would repair silently (whitespace, backslashes, missing slashes) is refused, so that every reader
 * understands the stored text alike. Which hosts are allowed is decided by `checkReceiverUrl`.
 */
export function parseUrlText(text: string): { ok: true; url: URL } | ({ ok: false } & UrlFault) {
  const fault = findTextFault(text);
  if (fault !== undefined) return { ok: false, ...fault };
  const url = URL.parse(text);
  if (!url) return { ok: false, ...INVALID };
  if (url.href.length > MAX_RECEIVER_URL_LENGTH) return { ok: false, ...TOO_LONG };
  // The parser leaves the port empty when it is the default.
  if (url.port !== '' && Number(url.port) < FIRST_UNPRIVILEGED_PORT)
    return { ok: false, ...toFault('url_port', `port must be 443 or at least ${FIRST_UNPRIVILEGED_PORT}`) };
  return { ok: true, url };
}

function findTextFault(text: string): UrlFault | undefined {
  if (text.length > MAX_RECEIVER_URL_LENGTH) return TOO_LONG;
  // Joiners are part of words and emoji.
  if (/[\s\p{Cc}]|[^\P{Cf}\u200c\u200d]/u.test(text)) return INVISIBLE;
  if (!text.isWellFormed()) return toFault('invalid_characters', 'must be well-formed Unicode');
  if (text.includes('\\')) return toFault('invalid_format', 'must not contain backslashes');
  if (!/^https:/i.test(text)) return toFault('url_scheme', 'must use https');
  if (text.includes('#')) return toFault('url_fragment', 'must not contain a fragment');

  // The parser accepts any number of slashes, and drops empty credentials: `https://@host`.
  const authority = /^https:\/\/([^/?]+)/i.exec(text)?.[1];
  if (authority === undefined) return INVALID;
  if (authority.includes('@')) return toFault('url_credentials', 'must not contain credentials');
  // The parser drops ignorable characters of a host; in a path they are part of emoji.
  if (/\p{Default_Ignorable_Code_Point}/u.test(authority)) return INVISIBLE;
  return undefined;
}

const toFault = (code: FieldErrorCode, problem: string): UrlFault => ({ code, problem });

const INVALID = toFault('invalid_format', 'must be a valid absolute URL');

/** No locale formatting: for this one number it took longer than loading the rest of the function. */
const TOO_LONG: UrlFault = {
  ...toFault('too_long', `must be at most ${MAX_RECEIVER_URL_LENGTH} characters`),
  limit: MAX_RECEIVER_URL_LENGTH,
};

const INVISIBLE = toFault(
  'invalid_characters',
  'must not contain whitespace, control or invisible characters',
);
