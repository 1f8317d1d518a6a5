import type { Route } from '../route.ts';

/**
 * Header fields by which browsers let the pages of any site see an answer (Fetch standard, CORS protocol). Visitors call from the pages of
 * customers, with a token in a header, which no browser sends by itself: an answer to all tells nobody anything that the token does not.
 */
export const crossOriginHeaders = ({ visitor }: Pick<Route, 'visitor'>): Record<string, string> =>
  visitor
    ? {
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Expose-Headers': 'RateLimit, RateLimit-Policy, Request-Id, Retry-After',
      }
    : {};
