import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { Collector, ContentProblem, type Reading, toTitle } from './text.ts';

/** More than any real page has. Depth and elements cost time and memory, some of it more than linearly. */
const MAX_DEPTH = 1000;
const MAX_ELEMENTS = 200_000;

/** Beyond these limits the article search takes too long, and the whole page's text is used. */
const MAX_DEPTH_TO_SEARCH = 150;
const MAX_ELEMENTS_TO_SEARCH = 20_000;

/**
 * Returns a page's article as text, or all its text when no article is found.
 * @param _choice how the text of the page was chosen at its previous reading
 */
export function readPage(html: string, _choice?: string): Reading {
  const { elements, depth } = measureShape(html);
  if (elements > MAX_ELEMENTS) throw new ContentProblem(`the page has more than ${MAX_ELEMENTS} elements`);
  if (depth > MAX_DEPTH) throw new ContentProblem('the page is nested too deeply');

  const page = parseDocument(html);
  const title = toTitle(page.querySelector('title')?.textContent);
  const isSearchable = elements <= MAX_ELEMENTS_TO_SEARCH && depth <= MAX_DEPTH_TO_SEARCH;
  const article = isSearchable ? findArticle(page) : undefined;
  const collected = collect(article === undefined ? [] : [article]);
  // Parse again: the search removes elements from its document.
  const text = collected.isBlank() ? collect(parseDocument(html).childNodes).text() : collected.text();
  return { text, ...(title !== undefined && { title }) };
}

function collect(roots: Iterable<TreeNode>): Collector {
  const collector = new Collector();
  for (const root of roots) for (const piece of walkText(root)) collector.add(piece);
  return collector;
}

/** Returns the text of an HTML fragment, such as a feed item's. May be empty. */
export function extractFragmentText(html: string): string {
  if (!/[<&]/.test(html)) return html;
  const { elements, depth } = measureShape(html);
  if (elements > MAX_ELEMENTS || depth > MAX_DEPTH) throw new ContentProblem('the feed is nested too deeply');
  return [...parseDocument(html).childNodes].flatMap((root) => [...walkText(root)]).join('');
}

/** Elements whose end tag is absent or optional. */
const WITHOUT_END =
  /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr|p|li|dt|dd|tr|td|th|thead|tbody|tfoot|option|optgroup|colgroup|rt|rp)$/i;
const TAG = /<(\/?)([a-z][a-z0-9-]*)([^<>]*)/gi;

/** Estimates the number and depth of elements without building a tree. */
function measureShape(html: string): { elements: number; depth: number } {
  let elements = 0;
  let open = 0;
  let depth = 0;
  for (const [, end, name = '', rest = ''] of html.matchAll(TAG)) {
    if (end === '') elements += 1;
    if (WITHOUT_END.test(name) || rest.endsWith('/')) continue;
    open = Math.max(0, open + (end === '' ? 1 : -1));
    depth = Math.max(depth, open);
  }
  return { elements, depth };
}

/** The used part of a DOM node: functions compile without DOM types. */
interface TreeNode {
  nodeType: number;
  nodeName: string;
  nodeValue: string | null;
  firstChild: TreeNode | null;
  nextSibling: TreeNode | null;
  parentNode: TreeNode | null;
  hasAttribute?(name: string): boolean;
}

interface Page {
  childNodes: Iterable<TreeNode>;
  querySelector(selector: string): { textContent: string | null } | null;
}

/** Adds `html`, `head` and `body`, which HTML allows to omit and the parser does not add. */
function parseDocument(html: string): Page {
  const isWhole = /<html[\s>]/i.test(html) && /<body[\s>]/i.test(html);
  return parseHTML(isWhole ? html : `<html><head></head><body>${html}</body></html>`).document;
}

/** @returns undefined when no article is found or the search fails; the whole page's text is used then */
function findArticle(document: Page): TreeNode | undefined {
  try {
    const options = { serializer: (root: unknown) => root, disableJSONLD: true };
    const content = new Readability<unknown>(document as never, options).parse()?.content;
    return content === null || content === undefined ? undefined : (content as TreeNode);
  } catch {
    return undefined;
  }
}

const ELEMENT = 1;
const TEXT = 3;

/** Elements without visible text. */
const INVISIBLE =
  /^(?:script|style|template|noscript|head|title|svg|math|iframe|object|embed|canvas|audio|video|select|datalist|textarea)$/i;

/** Inline elements; all others start and end lines. */
const IN_LINE =
  /^(?:a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|img|ins|kbd|label|mark|q|ruby|rb|rp|rt|s|samp|small|span|strike|strong|sub|sup|time|tt|u|var|wbr)$/i;

/** Yields the text of a tree in order, with line breaks at elements. Not recursive, so any depth works. */
function* walkText(root: TreeNode): Generator<string> {
  let node: TreeNode | null = root;
  while (node !== null) {
    yield node.nodeType === TEXT ? extractText(node) : getSeparator(node);
    const child: TreeNode | null = isVisible(node) ? node.firstChild : null;
    if (child !== null) {
      node = child;
      continue;
    }
    yield getSeparator(node);
    while (node !== null && node !== root && node.nextSibling === null) {
      node = node.parentNode;
      if (node !== null) yield getSeparator(node);
    }
    node = node === root ? null : (node?.nextSibling ?? null);
  }
}

/** Replaces line breaks of the source, which are spaces on the page. */
const extractText = ({ nodeValue }: TreeNode): string => (nodeValue ?? '').replace(/\s+/g, ' ');

const isVisible = (node: TreeNode): boolean =>
  node.nodeType !== ELEMENT || !(INVISIBLE.test(node.nodeName) || node.hasAttribute?.('hidden') === true);

function getSeparator({ nodeType, nodeName }: TreeNode): string {
  if (nodeType !== ELEMENT || IN_LINE.test(nodeName)) return '';
  // Cells of a row share a line.
  return /^t[dh]$/i.test(nodeName) ? ' ' : '\n';
}
