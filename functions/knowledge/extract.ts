import type { ContentClient } from '../delivery/outbound/client.ts';
import type { SourceKind } from '../events/bus.ts';
import type { Gate } from '../tenancy/gate.ts';
import { read } from './read.ts';
import { type CheckFinding, type ExtractionRequest, unusable } from './source-content.ts';
import { MAX_SOURCE_BYTES } from './sources.ts';

const ACCEPT: Record<SourceKind, string> = {
  url: 'text/html, application/xhtml+xml, */*;q=0.1',
  spreadsheet: 'text/csv, application/vnd.openxmlformats-officedocument.spreadsheetml.sheet, */*;q=0.1',
  feed: 'application/atom+xml, application/rss+xml, application/xml;q=0.9, */*;q=0.1',
};

/** Fetches one document, closes the client, and extracts the text. Rejects only when the gate is closed. */
export function extractContent({
  gate,
  outbound,
  userAgent,
}: {
  gate: Gate;
  outbound: ContentClient;
  userAgent: string;
}) {
  return ({ orgId, kind, url, choice, ...known }: ExtractionRequest): Promise<CheckFinding> =>
    gate<CheckFinding>(orgId, {
      sandbox: async () => ({
        kind: 'failed',
        errorCode: 'address_forbidden',
        error: 'the content of a sandbox is not fetched',
      }),
      live: async (permit) => {
        const fetched = await outbound.fetch(
          {
            url: new URL(url),
            headers: { 'user-agent': userAgent, accept: ACCEPT[kind], ...buildConditions(known) },
            maxBytes: MAX_SOURCE_BYTES,
          },
          permit,
        );
        // No connection serves two organizations.
        outbound.close();
        if (fetched.kind !== 'fetched') return fetched;
        const { body, contentType, etag, lastModified } = fetched;
        const extraction = await read(kind, { body, contentType, choice });
        if (!extraction.ok) return unusable(extraction.problem);
        const { ok: _, ...reading } = extraction;
        return { kind: 'fetched', ...reading, etag, lastModified };
      },
    });
}

/** Conditional request headers (RFC 9110, 13.1). */
const buildConditions = ({
  etag,
  lastModified,
}: Pick<ExtractionRequest, 'etag' | 'lastModified'>): Record<string, string> => ({
  ...(etag !== undefined && { 'if-none-match': etag }),
  ...(lastModified !== undefined && { 'if-modified-since': lastModified }),
});
