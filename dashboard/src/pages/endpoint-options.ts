import type { Endpoint } from '../api/webhooks.ts';
import { masked } from '../parts/masked.ts';

const ID_CHARACTERS = 6;

/** What an endpoint is called, where there is room for text alone: its description, else its URL. */
export const nameOf = ({ url, description }: Pick<Endpoint, 'url' | 'description'>): string =>
  description ?? masked(url).replace(/^https:\/\//, '');

/**
 * The endpoints of a filter. Those with the same name differ by the end of their id; the newest is first.
 * @param words for those that are sent nothing, by status
 */
export const endpointOptions = (
  endpoints: readonly Pick<Endpoint, 'id' | 'url' | 'status' | 'description'>[],
  words: Readonly<Record<Exclude<Endpoint['status'], 'active'>, string>>,
): { value: string; label: string }[] =>
  endpoints.map((endpoint) => {
    const { id, status } = endpoint;
    const name = nameOf(endpoint);
    const isOnly = endpoints.filter((other) => nameOf(other) === name).length === 1;
    const parts = [
      name,
      ...(isOnly ? [] : [`…${id.slice(-ID_CHARACTERS)}`]),
      ...(status === 'active' ? [] : [words[status]]),
    ];
    return { value: id, label: parts.join(' · ') };
  });
