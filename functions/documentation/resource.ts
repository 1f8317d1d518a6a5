import { createHash } from 'node:crypto';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { header, requestIdOf } from '../platform/pipeline/request.ts';

/** A text that is the same for everybody. */
export interface Resource {
  body: string;
  contentType: string;
  /** Header fields of every answer with it, whether it is sent or the caller has it already. */
  headers: Record<string, string>;
}

const NOSNIFF = { 'X-Content-Type-Options': 'nosniff' };

/** @param headers what is to be said of the text beyond its type, its caching among it */
export const resource = (body: string, contentType: string, headers: Record<string, string>): Resource => ({
  body,
  contentType,
  headers: { ...NOSNIFF, ...headers, ETag: `"${digestOf(body)}"` },
});

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22);

/** Sends a resource, or tells the caller that what it has is still the same (RFC 9110, 15.4.5). */
export function answerWith(
  { body, contentType, headers }: Resource,
  event: APIGatewayProxyEvent,
): APIGatewayProxyResult {
  const common = { ...headers, 'Request-Id': requestIdOf(event) };
  return matches(header(event, 'if-none-match'), headers.ETag)
    ? { statusCode: 304, headers: common, body: '' }
    : { statusCode: 200, headers: { ...common, 'Content-Type': contentType }, body };
}

/** `If-None-Match` is `*` or a list of entity tags, and compares weakly (RFC 9110, 13.1.2). */
function matches(condition: string | undefined, tag: string | undefined): boolean {
  if (condition === undefined) return false;
  if (condition.trim() === '*') return true;
  return condition.split(',').some((listed) => listed.trim().replace(/^W\//, '') === tag);
}

/** The document as a resource that pages of any origin may read. */
export const openApiResource = (document: string): Resource =>
  resource(document, 'application/json', {
    'Cache-Control': 'public, max-age=300',
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': 'ETag, Request-Id',
  });
