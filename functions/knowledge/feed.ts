import { decodeHTML } from 'entities';
import { Parser } from 'htmlparser2';
import * as z from 'zod/mini';
import { findWords } from './difference.ts';
import { extractFragmentText } from './html.ts';
import { Collector, ContentProblem, MAX_TEXT_BYTES, type Reading, toTitle, Warnings } from './text.ts';

/**
 * Reads titles and texts of a feed's entries (RSS, Atom, RDF, JSON Feed), in order. What is wrong with one
 * entry costs that entry. Entities that a feed declares are never expanded.
 */
export function readFeed(source: string): Reading {
  const feed = /^\s*\{/.test(source) ? parseJsonFeed(source) : parseXmlFeed(source);
  const collector = new Collector();
  const warnings = new Warnings();
  if (feed.isCut) warnings.add('entries_left_out');
  let problem = feed.isCut ? NOT_A_FEED : undefined;
  for (const parts of feed.entries) {
    const texts = tryExtract(parts);
    if (texts instanceof ContentProblem) {
      problem = texts.message;
      warnings.add('entries_left_out');
    } else collector.add(`${texts.join('\n')}\n\n`);
  }
  const text = collector.text({ canBeEmpty: true });
  if (text === '' && problem !== undefined) throw new ContentProblem(problem);
  const title = toTitle(feed.title && extractText(feed.title));
  return {
    text,
    ...(title !== undefined && { title }),
    ...warnings.list(),
  };
}

const NOT_A_FEED = 'the content is not a valid feed';

interface Part {
  value: string;
  isTitle: boolean;
  isHtml: boolean;
}

interface Feed {
  title?: Part | undefined;
  /** An entry without parts has no text; undefined when it cannot be read. */
  entries: (Part[] | undefined)[];
  /** Whether elements have no end, so that entries may be missing. */
  isCut?: boolean;
}

function tryExtract(parts: Part[] | undefined): string[] | ContentProblem {
  if (parts === undefined) return new ContentProblem(NOT_A_FEED);
  try {
    return omitRepeated(parts.map((part) => ({ isTitle: part.isTitle, text: extractText(part).trim() })));
  } catch (error) {
    if (error instanceof ContentProblem) return error;
    throw error;
  }
}

function extractText({ value, isTitle, isHtml }: Part): string {
  if (!isHtml) return value;
  if (/<[a-z!/]/i.test(value)) return extractFragmentText(value);
  const text = decodeHTML(value);
  // Some feeds escape their HTML twice.
  return !isTitle && HTML_TAG.test(text) ? extractFragmentText(text) : text;
}

const HTML_TAG = /<(?:\/[a-z]|br\b)/i;

/**
 * Orders the texts of an entry, titles first. Omits those whose words are all in a title or in longer ones:
 * summaries are often parts of contents.
 */
function omitRepeated(given: { isTitle: boolean; text: string }[]): string[] {
  const { titles = [], texts = [] } = Object.groupBy(given, ({ isTitle }) => (isTitle ? 'titles' : 'texts'));
  const bySize = texts.toSorted((a, b) => b.text.length - a.text.length);
  const kept = new Set<unknown>();
  const seen = new Set<string>();
  for (const part of [...titles, ...bySize]) {
    const isShortened =
      !part.isTitle && part !== bySize[0] && /(?:…|\.{3})\W{0,3}$/.test(part.text.slice(-10));
    // The last word of a shortened text may be a part of one.
    const text = isShortened ? part.text.slice(0, Math.max(0, part.text.lastIndexOf(' '))) : part.text;
    let isRepeated = isShortened;
    let isNew = false;
    // A longer text is too large in any case.
    for (const [word] of findWords(text.slice(0, MAX_TEXT_BYTES))) {
      if (seen.has(word)) isRepeated = true;
      else isNew = true;
      seen.add(word);
    }
    if (isNew || !isRepeated) kept.add(part);
  }
  return [...titles, ...texts].filter((part) => kept.has(part)).map(({ text }) => text);
}

/** Far more than a feed has. */
const MAX_DEPTH = 200;

const ROOT = /^(?:rss|feed|channel|item|entry)$/;
const FEED = /^(?:channel|feed)$/;
const ENTRY = /^(?:item|entry)$/;
/** Texts in the formats and their extensions (Dublin Core, iTunes, Media RSS, and others). */
const TEXT = /^(?:description|summary|subtitle|content|encoded|abstract|body|full-text|fullitem)$/;
/** Elements with such texts: entries, and groups and files of Media RSS. */
const HOLDER = /^(?:item|entry|group|content)$/;
const VOID = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/;

/** A text while it is read. */
interface Field {
  depth: number;
  isTitle: boolean;
  /** Undefined where nothing says it. */
  isHtml: boolean | undefined;
  value: string;
  /** Set when it has elements. */
  markup?: string;
  isBase64: boolean;
  isText: boolean;
}

/**
 * Reads XML as it comes, well-formed or not. Names count without their prefixes, which feeds choose freely
 * and some do not declare.
 */
function parseXmlFeed(source: string): Feed {
  const feed: Feed = { entries: [] };
  const path: string[] = [];
  let root: string | undefined;
  let field: Field | undefined;

  const parser = new Parser(
    {
      onopentag(tag, attributes) {
        const name = tag.slice(tag.indexOf(':') + 1);
        const parent = path.at(-1) ?? '';
        if (path.push(name) > MAX_DEPTH) throw new ContentProblem('the feed is nested too deeply');
        if (ROOT.test(name)) root ??= name;
        if (ENTRY.test(name)) {
          feed.entries.push([]);
          // A text before it has no end tag.
          field = undefined;
        }
        if (field !== undefined) {
          field.markup = `${field.markup ?? escapeText(field.value)}<${name}>`;
          return;
        }
        // An element with a URL is a file, with texts of its own. Titles of files are names and the like.
        const isField =
          name === 'title'
            ? ENTRY.test(parent) || FEED.test(parent)
            : TEXT.test(name) && HOLDER.test(parent) && attributes.url === undefined;
        if (isField) field = createField(name, path.length, attributes, root === 'feed' || root === 'entry');
      },
      ontext(text) {
        if (field === undefined) return;
        if (field.markup === undefined) field.value += text;
        else field.markup += escapeText(text);
      },
      onclosetag() {
        const name = path.pop() ?? '';
        if (field === undefined) return;
        if (path.length >= field.depth) {
          if (!VOID.test(name)) field.markup += `</${name}>`;
          return;
        }
        const part = finishField(field);
        if (FEED.test(path.at(-1) ?? '')) feed.title ??= part;
        else if (part !== undefined) feed.entries.at(-1)?.push(part);
        field = undefined;
      },
    },
    { xmlMode: true, lowerCaseTags: true, lowerCaseAttributeNames: true },
  );
  // Some feeds escape the end of a section, which would then end with a later one.
  parser.write(source.replaceAll(/\]\]&gt;(?=\s*<\/)/g, ']]>'));
  if (root === undefined) throw new ContentProblem(NOT_A_FEED);
  return { ...feed, isCut: path.some((name) => ROOT.test(name) || name === 'rdf') };
}

const escapeText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Texts without a type are HTML in RSS by convention, and plain in Atom (RFC 4287, section 3.1.1). */
function createField(
  name: string,
  depth: number,
  { type, mode }: Record<string, string>,
  isAtom: boolean,
): Field {
  return {
    value: '',
    depth,
    isTitle: name === 'title',
    isHtml: type === undefined ? !isAtom || undefined : /html/i.test(type),
    isBase64: mode === 'base64',
    // Other types are images and the like.
    isText: type === undefined || !type.includes('/') || /^text\/|html/i.test(type),
  };
}

function finishField({ value, markup, isText, isTitle, isHtml, isBase64 }: Field): Part | undefined {
  if (!isText) return undefined;
  if (markup !== undefined) return { value: repairEncoding(markup), isTitle, isHtml: true };
  const decoded = isBase64 ? Buffer.from(value, 'base64').toString() : repairEncoding(value);
  const text = decoded.includes('<![CDATA[') ? decoded.replaceAll(/<!\[CDATA\[|\]\]>/g, '') : decoded;
  // Many Atom feeds omit the type of their HTML.
  if (isHtml ?? (!isTitle && HTML_TAG.test(text))) return { value: text, isTitle, isHtml: true };
  return { value: decodeHTML(text), isTitle, isHtml: false };
}

/** Some feeds encode text as UTF-8 that is UTF-8 already. */
function repairEncoding(text: string): string {
  if (!/[\u0080-\u00ff]/.test(text) || /[\u0100-\uffff]/.test(text)) return text;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'latin1'));
  } catch {
    return text;
  }
}

const OptionalText = z.catch(z.optional(z.string()), undefined);
const JsonFeed = z.object({
  version: z.string().check(z.regex(/jsonfeed\.org\/version\//)),
  title: OptionalText,
  items: z.array(z.unknown()),
});
const JsonItem = z.object({
  title: OptionalText,
  content_html: OptionalText,
  content_text: OptionalText,
  summary: OptionalText,
});

function parseJsonFeed(source: string): Feed {
  const feed = JsonFeed.safeParse(parseJson(source)).data;
  if (feed === undefined) throw new ContentProblem(NOT_A_FEED);
  const toPart = (value: string | undefined, { isTitle = false, isHtml = false } = {}): Part[] =>
    value === undefined ? [] : [{ value, isTitle, isHtml }];
  return {
    title: toPart(feed.title)[0],
    entries: feed.items.map((given) => {
      const item = JsonItem.safeParse(given).data;
      return (
        item && [
          ...toPart(item.title, { isTitle: true }),
          ...toPart(item.content_html, { isHtml: true }),
          ...toPart(item.content_text),
          ...toPart(item.summary),
        ]
      );
    }),
  };
}

function parseJson(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return undefined;
  }
}
