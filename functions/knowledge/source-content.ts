import type { SourceKind } from '../domain/bus.ts';
import type { Gate } from '../domain/gate.ts';
import { type CheckFinding, simulateContent } from '../domain/simulation.ts';
import type { ContentClient } from '../platform/outbound/client.ts';
import { MAX_SOURCE_BYTES, type Source } from '../store/sources.ts';
import type { Extractor } from './extractor.ts';
import { MAX_TEXT_BYTES } from './text.ts';

const ACCEPT: Record<SourceKind, string> = {
  url: 'text/html, application/xhtml+xml, */*;q=0.1',
  spreadsheet: 'text/csv, application/vnd.openxmlformats-officedocument.spreadsheetml.sheet, */*;q=0.1',
  feed: 'application/atom+xml, application/rss+xml, application/xml;q=0.9, */*;q=0.1',
};

/**
 * Returns the text at a source's URL, unless it is unchanged. A sandbox does not fetch: the program in the
 * URL determines the text.
 */
export function sourceContent({
  gate,
  outbound,
  extract,
  userAgent,
}: {
  gate: Gate;
  outbound: Pick<ContentClient, 'fetch'>;
  extract: Extractor;
  userAgent: string;
}) {
  return (source: Source): Promise<CheckFinding> =>
    gate<CheckFinding>(source.orgId, {
      sandbox: async () => simulateContent(source.url, source.checks + 1),
      live: async (permit) => {
        const fetched = await outbound.fetch(
          {
            url: new URL(source.url),
            headers: { 'user-agent': userAgent, ...buildHeaders(source) },
            maxBytes: MAX_SOURCE_BYTES,
          },
          permit,
        );
        if (fetched.kind !== 'fetched') return fetched;
        const { body, contentType, url, etag, lastModified } = fetched;
        const extracted = await extract(source.kind, {
          body,
          url,
          ...(contentType !== undefined && { contentType }),
        });
        if (!extracted.ok) return { kind: 'failed', error: extracted.problem };
        const { text, title } = extracted;
        if (Buffer.byteLength(text) > MAX_TEXT_BYTES)
          return { kind: 'failed', error: `the text is larger than ${MAX_TEXT_BYTES} bytes` };
        return { kind: 'fetched', text, title, etag, lastModified };
      },
    });
}

/** Conditional request headers (RFC 9110, 13.1). */
const buildHeaders = ({ kind, content }: Source): Record<string, string> => ({
  accept: ACCEPT[kind],
  ...(content?.etag !== undefined && { 'if-none-match': content.etag }),
  ...(content?.lastModified !== undefined && { 'if-modified-since': content.lastModified }),
});
