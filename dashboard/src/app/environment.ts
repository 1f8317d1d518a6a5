import { useLocation } from 'wouter';
import type { Environment } from '../api/client.ts';
import { PAGE_ENTRIES } from './places.ts';

/** First parts of the paths of pages that exist for each half of the organization. */
const OF_BOTH: readonly string[] = [
  'overview',
  ...PAGE_ENTRIES.flatMap(([, { route, ofBoth }]) => (ofBoth ? (route.split('/')[1] ?? '') : [])),
];
const SANDBOX = '/sandbox/';
/** The sandbox's own page has the path before it, so its overview needs a name. */
const SANDBOX_OVERVIEW = `${SANDBOX}overview`;

/** Which half a path shows; undefined where it is about the organization as a whole. */
export function halfOf(path: string): Environment | undefined {
  if (path.startsWith(SANDBOX)) return 'sandbox';
  const section = path.split('/')[1] ?? '';
  return OF_BOTH.includes(section) ? 'live' : undefined;
}

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
