import type { SourceKind } from '../domain/source.ts';
import type { Content, Extraction } from './extractor.ts';
import { decode, detectFormat, parseMediaType } from './media-type.ts';
import { Collector, ContentProblem, type Reading } from './text.ts';

/**
 * Gets the text out of a content, in the process that it is called in. Never rejects, but it may run for ever
 * or fill the heap: {@link extractor} sets limits to that.
 */
export async function read(kind: SourceKind, content: Omit<Content, 'url'>): Promise<Extraction> {
  try {
    const { text, title } = await readFormat(kind, content);
    return { ok: true, text, ...(title !== undefined && { title }) };
  } catch (error) {
    return { ok: false, problem: toProblem(error) };
  }
}

/** The messages of libraries contain text of the content, and paths. */
function toProblem(error: unknown): string {
  if (error instanceof ContentProblem) return error.message;
  // The engine's word for a stack that is full.
  return error instanceof RangeError ? 'the content is nested too deeply' : 'the content could not be read';
}

/**
 * Loads of the parsers the one that is needed: each reading is made in a process of its own, which would load
 * all.
 */
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
