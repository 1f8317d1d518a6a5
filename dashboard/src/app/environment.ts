import { useLocation } from 'wouter';
import type { Environment } from '../api/client.ts';

/** Pages that exist for each half of the organization, by their path in the live one. */
const OF_BOTH = ['', 'endpoints', 'deliveries', 'sources'] as const;
const SANDBOX = '/sandbox/';
/** The sandbox's own page has the path before it, so its overview needs a name. */
const SANDBOX_OVERVIEW = `${SANDBOX}overview`;

/** Which half a path shows. */
export const environmentOf = (path: string): Environment => (path.startsWith(SANDBOX) ? 'sandbox' : 'live');

/** A path of the live half in another one. */
export function pathIn(environment: Environment, path: string): string {
  if (environment === 'live') return path;
  return path === '/' ? SANDBOX_OVERVIEW : `/sandbox${path}`;
}

/** The same page of the other half: of a single thing the list that it would be in. */
export function samePlaceIn(environment: Environment, path: string): string {
  const live = environmentOf(path) === 'live' ? path : path.slice(SANDBOX.length - 1);
  const section = live.split('/')[1] === 'overview' ? '' : live.split('/')[1];
  const known = OF_BOTH.find((name) => name === section);
  return pathIn(environment, `/${known ?? ''}`);
}

/** Which half the page is about, and paths within it. */
export function useEnvironment(): { environment: Environment; to: (path: string) => string } {
  const [path] = useLocation();
  const environment = environmentOf(path);
  return { environment, to: (livePath) => pathIn(environment, livePath) };
}
