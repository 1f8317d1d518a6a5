import type { AnyFeed } from 'feedsmith';
import { extractFragmentText } from './html.ts';
import { Collector, ContentProblem, checkXml, type Reading, toTitle } from './text.ts';

/** Reads titles and texts of a feed's items (RSS, Atom, RDF, JSON Feed), in order. */
export async function readFeed(source: string): Promise<Reading> {
  if (!/^\s*\{/.test(source)) checkXml(source, 'feed');
  const { title, items } = extractContent(await parseFeedDocument(source));

  const collector = new Collector();
  for (const item of items) {
    // The summary would repeat the content.
    for (const part of [item.title, item.content ?? item.summary]) {
      if (part === undefined) continue;
      collector.add(extractPartText(part));
      collector.add('\n');
    }
    collector.add('\n');
  }
  const line = toTitle(title && extractPartText(title));
  return { text: collector.text(), ...(line !== undefined && { title: line }) };
}

async function parseFeedDocument(source: string): Promise<AnyFeed> {
  // Loaded on demand: pages do not need it.
  const { parseFeed } = await import('feedsmith');
  try {
    return parseFeed(source);
  } catch (error) {
    throw error instanceof RangeError ? error : new ContentProblem('the content is not a valid feed');
  }
}

interface Part {
  value: string;
  isHtml: boolean;
}

interface FeedContent {
  title?: Part;
  items: { title?: Part; summary?: Part; content?: Part }[];
}

const extractPartText = ({ value, isHtml }: Part): string => (isHtml ? extractFragmentText(value) : value);

const toHtmlPart = (value: string | undefined): Part | undefined =>
  value === undefined ? undefined : { value, isHtml: true };
const toPlainPart = (value: string | undefined): Part | undefined =>
  value === undefined ? undefined : { value, isHtml: false };

/** Atom texts declare their type (RFC 4287, section 3.1.1); plain by default. */
const toTypedPart = (text: { value?: string; type?: string } | undefined): Part | undefined =>
  text?.value === undefined ? undefined : { value: text.value, isHtml: /html/i.test(text.type ?? '') };

/** RSS texts are HTML by convention. JSON Feed has a field for each type. */
function extractContent(parsedFeed: AnyFeed): FeedContent {
  const { format, feed } = parsedFeed;
  switch (format) {
    case 'rss':
    case 'rdf':
      return {
        title: toHtmlPart(feed.title),
        items: (feed.items ?? []).map(({ title, description, content }) => ({
          title: toHtmlPart(title),
          summary: toHtmlPart(description),
          content: toHtmlPart(content?.encoded),
        })),
      };
    case 'atom':
      return {
        title: toTypedPart(feed.title),
        items: (feed.entries ?? []).map(({ title, summary, content }) => ({
          title: toTypedPart(title),
          summary: toTypedPart(summary),
          content: toTypedPart(content),
        })),
      };
    case 'json':
      return {
        title: toPlainPart(feed.title),
        items: (feed.items ?? []).map(({ title, summary, content_html, content_text }) => ({
          title: toPlainPart(title),
          summary: toPlainPart(summary),
          content: toHtmlPart(content_html) ?? toPlainPart(content_text),
        })),
      };
  }
}
