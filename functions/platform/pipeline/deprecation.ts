import { type Problem, problem } from '../../domain/problem.ts';
import type { Deprecation } from '../route.ts';

/** An HTTP-date (RFC 9110, 5.6.7). */
const httpDate = (moment: string): string => new Date(moment).toUTCString();

/** The header fields that announce the end of a route (public-api.md, Versioning 5). */
export function deprecationHeaders(deprecation: Deprecation | undefined): Record<string, string> {
  if (deprecation === undefined) return {};
  const { since, sunset, guide } = deprecation;
  return {
    Deprecation: since === true ? 'true' : httpDate(since),
    Sunset: httpDate(sunset),
    ...(guide === undefined ? {} : { Link: `<${guide}>; rel="deprecation"` }),
  };
}

/** The answer of a route whose time is over. */
export const gone = (deprecation: Deprecation | undefined, now: Date): Problem | undefined =>
  deprecation !== undefined && now >= new Date(deprecation.sunset)
    ? problem('GONE', 'This route is no longer served. The Link header, where present, names its successor.')
    : undefined;
