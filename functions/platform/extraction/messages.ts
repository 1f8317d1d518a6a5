import * as z from 'zod/mini';
import type { SourceKind } from '../../domain/source.ts';

/** What the process that reads is told. */
export interface ToReader {
  kind: SourceKind;
  body: Uint8Array;
  contentType?: string;
  url: string;
}

/** What it says: that it has begun, and what came of it. */
export const FromReader = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('begun') }),
  z.object({
    kind: z.literal('extracted'),
    extraction: z.discriminatedUnion('ok', [
      z.object({ ok: z.literal(true), text: z.string(), title: z.optional(z.string()) }),
      z.object({ ok: z.literal(false), problem: z.string() }),
    ]),
  }),
]);
export type FromReader = z.infer<typeof FromReader>;
