import type { Environment } from '../../api/client.ts';
import { masked } from '../../parts/masked.ts';
import { nameOf } from '../endpoint-options.ts';

export interface Result {
  /** One for each result. */
  id: string;
  kind: 'page' | 'endpoint' | 'type' | 'source' | 'key';
  title: string;
  /** Beside it: an identifier or a description. */
  detail?: string | undefined;
  environment: Environment;
  /** Of the live half. */
  path: string;
}

/** What is searched besides identifiers. */
export interface Searched {
  pages: readonly Pick<Result, 'title' | 'path' | 'environment'>[];
  endpoints: readonly {
    environment: Environment;
    id: string;
    url: string;
    description: string | null;
  }[];
  types: readonly string[];
  /** What else has a name. */
  named: readonly Result[];
  environment: Environment;
}

const MAX_RESULTS = 30;

/** What has all words of a text, in upper or lower case; all pages for none. */
export function resultsOf(text: string, { pages, endpoints, types, named, environment }: Searched): Result[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const isMatch = (...texts: (string | null)[]) => {
    const all = texts.join('\n').toLowerCase();
    return words.every((word) => all.includes(word));
  };
  const ofPages = pages
    .filter(({ title }) => isMatch(title))
    .map((page) => ({ ...page, id: page.path, kind: 'page' as const }));
  if (words.length === 0) return ofPages;
  const ofEndpoints = endpoints
    .filter(({ id, url, description }) => isMatch(id, url, description))
    // Those of the environment that is shown first.
    .toSorted(
      (one, other) => Number(other.environment === environment) - Number(one.environment === environment),
    )
    .map((endpoint) => ({
      id: endpoint.id,
      kind: 'endpoint' as const,
      title: nameOf(endpoint),
      detail: endpoint.description === null ? endpoint.id : masked(endpoint.url),
      environment: endpoint.environment,
      path: `/endpoints/${endpoint.id}`,
    }));
  const ofTypes = types
    .filter((type) => isMatch(type))
    .map((type) => ({
      id: type,
      kind: 'type' as const,
      title: type,
      environment,
      path: `/events?type=${type}`,
    }));
  const ofNamed = named.filter(({ id, title }) => isMatch(id, title));
  return [...ofPages, ...ofTypes, ...ofEndpoints, ...ofNamed].slice(0, MAX_RESULTS);
}
