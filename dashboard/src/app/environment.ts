import { useLocation } from 'wouter';
import type { Environment } from '../api/client.ts';

/**
 * Pages that exist for each half of the organization, by their path in the live one. All others are about
 * both.
 */
const OF_BOTH = [
  '',
  'overview',
  'events',
  'endpoints',
  'channels',
  'deliveries',
  'failures',
  'event-types',
  'sources',
] as const;
const SANDBOX = '/sandbox/';
/** The sandbox's own page has the path before it, so its overview needs a name. */
const SANDBOX_OVERVIEW = `${SANDBOX}overview`;

/** Which half a path shows; undefined where it is about the organization as a whole. */
export function halfOf(path: string): Environment | undefined {
  if (path.startsWith(SANDBOX)) return 'sandbox';
  const section = path.split('/')[1] ?? '';
  return OF_BOTH.some((name) => name === section) ? 'live' : undefined;
}

/** A path of the live half in another one. */
export function pathIn(environment: Environment, path: string): string {
  if (environment === 'live') return path;
  return path === '/' ? SANDBOX_OVERVIEW : `/sandbox${path}`;
}

/** The same page of the other half: of a single thing the list that it would be in. */
export function samePlaceIn(environment: Environment, path: string): string {
  const live = halfOf(path) === 'sandbox' ? path.slice(SANDBOX.length - 1) : path;
  const section = live.split('/')[1] === 'overview' ? '' : live.split('/')[1];
  const known = OF_BOTH.find((name) => name === section);
  return pathIn(environment, `/${known ?? ''}`);
}

/** The last environment of this tab. */
const LAST = 'half';
let last: Environment = stored();

function stored(): Environment {
  try {
    return sessionStorage.getItem(LAST) === 'sandbox' ? 'sandbox' : 'live';
  } catch {
    return 'live';
  }
}

/** Stores the environment, so that a page of the whole organization leads back to it. */
export function rememberHalf(half: Environment | undefined): void {
  if (half === undefined) return;
  last = half;
  try {
    sessionStorage.setItem(LAST, half);
  } catch {
    // Storage is refused: it lasts as long as this page.
  }
}

/** The current environment, also on pages of the whole organization, and paths within it. */
export function useEnvironment(): { environment: Environment; to: (path: string) => string } {
  const [path] = useLocation();
  const environment = halfOf(path) ?? last;
  return { environment, to: (livePath) => pathIn(environment, livePath) };
}
