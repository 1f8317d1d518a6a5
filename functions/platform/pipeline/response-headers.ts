import { type Problem, problem } from '../../domain/problem.ts';
import type { Deprecation, Route } from '../route.ts';

/** An HTTP-date (RFC 9110, 5.6.7). */
const httpDate = (moment: string): string => new Date(moment).toUTCString();

/** The headers that announce the end of a route. */
export function deprecationHeaders(deprecation: Deprecation | undefined): Record<string, string> {
  if (deprecation === undefined) return {};
  const { since, sunset, guide } = deprecation;
  return {
    Deprecation: since === true ? 'true' : httpDate(since),
    Sunset: httpDate(sunset),
    ...(guide === undefined ? {} : { Link: `<${guide}>; rel="deprecation"` }),
  };
}

/** The problem that a route returns after its sunset. */
export const gone = (deprecation: Deprecation | undefined, now: Date): Problem | undefined =>
  deprecation !== undefined && now >= new Date(deprecation.sunset)
    ? problem('GONE', 'This route is no longer served. The Link header, where present, names its successor.')
    : undefined;

/**
 * CORS headers that let pages of any site read a response (Fetch standard, CORS protocol). Visitors call from
 * customers' pages with a token in a header, which no browser sends by itself, so a response is of no use to
 * other pages.
 */
export const crossOriginHeaders = ({ visitor }: Pick<Route, 'visitor'>): Record<string, string> =>
  visitor
    ? {
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Expose-Headers': 'RateLimit, RateLimit-Policy, Request-Id, Retry-After',
      }
    : {};
