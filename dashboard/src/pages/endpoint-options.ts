import type { Endpoint } from '../api/webhooks.ts';

/** All addresses begin with it, and a narrow field has no room for what all of them have. */
const SCHEME = 'https://';
const ID_CHARACTERS = 6;

/**
 * The endpoints of a filter. Those with the same URL differ by the end of their id; the newest is first.
 * @param words for those that are sent nothing, by status
 */
export const endpointOptions = (
  endpoints: readonly Pick<Endpoint, 'id' | 'url' | 'status'>[],
  words: Readonly<Record<Exclude<Endpoint['status'], 'active'>, string>>,
): { value: string; label: string }[] =>
  endpoints.map(({ id, url, status }) => {
    const isOnly = endpoints.filter((other) => other.url === url).length === 1;
    const parts = [
      url.replace(SCHEME, ''),
      ...(isOnly ? [] : [`…${id.slice(-ID_CHARACTERS)}`]),
      ...(status === 'active' ? [] : [words[status]]),
    ];
    return { value: id, label: parts.join(' · ') };
  });
