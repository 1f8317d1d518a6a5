import type { APIGatewayProxyEvent } from 'aws-lambda';
import { header } from './request.ts';

/** What browsers add to requests by themselves. */

/**
 * The value of a cookie, when the request has exactly one of this name. A browser has one such cookie. Of several somebody else may have set
 * one, and nothing says which.
 */
export function cookieOf(event: APIGatewayProxyEvent, wanted: string): string | undefined {
  const values = (header(event, 'cookie') ?? '').split(';').flatMap((pair) => {
    // Only the first sign of equality ends the name: a value may have further ones (RFC 6265, 4.1.1).
    const [name = '', ...parts] = pair.trim().split('=');
    const value = parts.join('=');
    return name === wanted && value !== '' ? [value] : [];
  });
  return values.length === 1 ? values[0] : undefined;
}

/**
 * Whether a page of this origin made the request. Browsers say so, and pages cannot say otherwise; `null` is what they send where they will
 * not say which page it was (RFC 6454, 7.3).
 * @param url any of the origin; without one no page is of it
 */
export function isFromPageOf(event: APIGatewayProxyEvent, url: string | undefined): boolean {
  const origin = header(event, 'origin');
  // As browsers write it: without a path, and without the scheme's own port.
  return origin !== undefined && origin !== 'null' && url !== undefined && origin === new URL(url).origin;
}
