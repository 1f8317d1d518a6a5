import type { SourceKind } from '../domain/bus.ts';
import type { Content, Extraction } from './extractor.ts';
import { decode, detectFormat, parseMediaType } from './media-type.ts';
import { Collector, ContentProblem, type Reading } from './text.ts';

/**
 * Extracts text in the current process. Never rejects, but may run forever or fill the heap; {@link
 * extractor} sets limits.
 */
export async function read(kind: SourceKind, content: Omit<Content, 'url'>): Promise<Extraction> {
  try {
    const { text, title } = await readFormat(kind, content);
    return { ok: true, text, ...(title !== undefined && { title }) };
  } catch (error) {
    return { ok: false, problem: toProblem(error) };
  }
}

/** Hides messages of libraries, which may contain paths and text of the content. */
function toProblem(error: unknown): string {
  if (error instanceof ContentProblem) return error.message;
  // V8 throws a RangeError when the stack is full.
  return error instanceof RangeError ? 'the content is nested too deeply' : 'the content could not be read';
}

/** Loads only the parser that it needs, because each document has its own process. */
async function readFormat(kind: SourceKind, { body, contentType }: Omit<Content, 'url'>): Promise<Reading> {
  if (body.length === 0) throw new ContentProblem('there is no text in the content');
  const type = parseMediaType(contentType);
  const format = detectFormat(kind, type, body);
  switch (format) {
    case 'html': {
      const { readPage } = await import('./html.ts');
      return readPage(decode(body, type.charset, 'html'));
    }
    case 'plain':
      return readPlain(decode(body, type.charset, undefined));
    case 'feed': {
      const { readFeed } = await import('./feed.ts');
      return readFeed(decode(body, type.charset, 'xml'));
    }
    case 'csv': {
      const { readCsv } = await import('./spreadsheet.ts');
      return readCsv(decode(body, type.charset, undefined));
    }
    case 'xlsx': {
      const { readWorkbook } = await import('./spreadsheet.ts');
      return readWorkbook(body);
    }
  }
}

function readPlain(text: string): Reading {
  const collector = new Collector();
  collector.add(text);
  return { text: collector.text() };
}
