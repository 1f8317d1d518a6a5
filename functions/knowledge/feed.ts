import { type AnyFeed, parseFeed } from 'feedsmith';
import { textOfFragment } from './html.ts';
import { Collector, ContentProblem, type Reading, titleOf } from './text.ts';
import { checkXml } from './xml.ts';

/** Titles and texts of a feed's items (RSS, Atom, RDF, JSON Feed), in their order. */
export function readFeed(source: string): Reading {
  if (!/^\s*\{/.test(source)) checkXml(source, 'feed');
  const { title, items } = contentOf(parsed(source));

  const collector = new Collector();
  for (const item of items) {
    // Where an item has its content, its summary says the same again.
    for (const part of [item.title, item.content ?? item.summary]) {
      if (part === undefined) continue;
      collector.add(textOf(part));
      collector.add('\n');
    }
    collector.add('\n');
  }
  const line = titleOf(title && textOf(title));
  return { text: collector.text(), ...(line !== undefined && { title: line }) };
}

function parsed(source: string): AnyFeed {
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

const textOf = ({ value, isHtml }: Part): string => (isHtml ? textOfFragment(value) : value);

const html = (value: string | undefined): Part | undefined =>
  value === undefined ? undefined : { value, isHtml: true };
const plain = (value: string | undefined): Part | undefined =>
  value === undefined ? undefined : { value, isHtml: false };

/** Texts of Atom say what they are (RFC 4287, section 3.1.1); without a word they are plain. */
const typed = (text: { value?: string; type?: string } | undefined): Part | undefined =>
  text?.value === undefined ? undefined : { value: text.value, isHtml: /html/i.test(text.type ?? '') };

/** What RSS calls a text is HTML by custom. JSON Feed has a field for each. */
function contentOf(parsedFeed: AnyFeed): FeedContent {
  const { format, feed } = parsedFeed;
  switch (format) {
    case 'rss':
    case 'rdf':
      return {
        title: html(feed.title),
        items: (feed.items ?? []).map(({ title, description, content }) => ({
          title: html(title),
          summary: html(description),
          content: html(content?.encoded),
        })),
      };
    case 'atom':
      return {
        title: typed(feed.title),
        items: (feed.entries ?? []).map(({ title, summary, content }) => ({
          title: typed(title),
          summary: typed(summary),
          content: typed(content),
        })),
      };
    case 'json':
      return {
        title: plain(feed.title),
        items: (feed.items ?? []).map(({ title, summary, content_html, content_text }) => ({
          title: plain(title),
          summary: plain(summary),
          content: html(content_html) ?? plain(content_text),
        })),
      };
  }
}
