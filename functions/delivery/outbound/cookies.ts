/** Name and value, of the characters that a header can carry back. */
const PAIR = /^\s*([!-:<>-~]+)=([ -:<-~]*)/;
const DOMAIN = /;\s*domain\s*=\s*\.?([\w.-]+)/i;
const IS_DELETED = /;\s*max-age\s*=\s*(?:0|-\d+)\s*(?:;|$)/i;

/**
 * Cookies of one fetch (RFC 6265), which some sites set with a redirect to the same page and wait for.
 * Ignores paths and times of expiry, which matter to longer visits.
 */
export class Cookies {
  readonly #cookies = new Map<string, { pair: string; isFor: (host: string) => boolean }>();

  /** @param headers Set-Cookie headers; ignored for a domain that the host does not belong to */
  add(headers: readonly string[], host: string): void {
    for (const header of headers) {
      const [, name, value = ''] = PAIR.exec(header) ?? [];
      const domain = DOMAIN.exec(header)?.[1]?.toLowerCase();
      if (name === undefined || (domain !== undefined && !belongsTo(host, domain))) continue;
      const key = `${domain ?? host} ${name}`;
      const isFor = (other: string) => (domain === undefined ? other === host : belongsTo(other, domain));
      if (IS_DELETED.test(header)) this.#cookies.delete(key);
      else this.#cookies.set(key, { pair: `${name}=${value.trim()}`, isFor });
    }
  }

  buildHeader(host: string): { cookie?: string } {
    const pairs = [...this.#cookies.values()].filter(({ isFor }) => isFor(host)).map(({ pair }) => pair);
    return pairs.length === 0 ? {} : { cookie: pairs.join('; ') };
  }
}

const belongsTo = (host: string, domain: string): boolean => host === domain || host.endsWith(`.${domain}`);
