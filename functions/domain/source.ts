import * as z from 'zod/mini';

/** What a source's URL is expected to give: an HTML page; CSV or XLSX; RSS or Atom (decisions.md, Content-change notifications). */
export const SourceKind = z.enum(['url', 'spreadsheet', 'feed']);
export type SourceKind = z.infer<typeof SourceKind>;
