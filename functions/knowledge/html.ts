import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { Collector, ContentProblem, type Reading, toTitle } from './text.ts';

/** More than any real page; depth and elements cost time and memory, in part more than linearly. */
const MAX_DEPTH = 1000;
const MAX_ELEMENTS = 200_000;

/** Beyond this depth the article search takes too long; the whole page's text is used. */
const MAX_DEPTH_TO_SEARCH = 150;
const MAX_ELEMENTS_TO_SEARCH = 20_000;

/** Returns a page's article as text, or all its text when no article is found. */
export function readPage(html: string): Reading {
  const { elements, depth } = measureShape(html);
  if (elements > MAX_ELEMENTS) throw new ContentProblem(`the page has more than ${MAX_ELEMENTS} elements`);
  if (depth > MAX_DEPTH) throw new ContentProblem('the page is nested too deeply');

  const page = parseDocument(html);
  const title = toTitle(page.querySelector('title')?.textContent);
  const isSearchable = elements <= MAX_ELEMENTS_TO_SEARCH && depth <= MAX_DEPTH_TO_SEARCH;
  const article = isSearchable ? findArticle(page) : undefined;
  const found = collect(article === undefined ? [] : [article]);
  // The search removes elements from its document.
  const text = found.isBlank() ? collect(parseDocument(html).childNodes).text() : found.text();
  return { text, ...(title !== undefined && { title }) };
}

function collect(roots: Iterable<TreeNode>): Collector {
  const collector = new Collector();
  for (const root of roots) for (const piece of piecesOf(root)) collector.add(piece);
  return collector;
}

/** Returns the text of a piece of HTML, such as a feed item's. May be empty. */
export function extractFragmentText(html: string): string {
  if (!/[<&]/.test(html)) return html;
  const { elements, depth } = measureShape(html);
  if (elements > MAX_ELEMENTS || depth > MAX_DEPTH) throw new ContentProblem('the feed is nested too deeply');
  return [...parseDocument(html).childNodes].flatMap((root) => [...piecesOf(root)]).join('');
}

/** Elements that are written without an end, or may be. */
const WITHOUT_END =
  /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr|p|li|dt|dd|tr|td|th|thead|tbody|tfoot|option|optgroup|colgroup|rt|rp)$/i;
const TAG = /<(\/?)([a-z][a-z0-9-]*)([^<>]*)/gi;

/** Estimates the number and depth of elements before a tree is built. */
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

/** The used part of a DOM node: the functions have no DOM types. */
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

/** Undefined when no article is found or the search fails: the whole page's text is used. */
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

/** Not for readers, or not text. */
const UNSEEN =
  /^(?:script|style|template|noscript|head|title|svg|math|iframe|object|embed|canvas|audio|video|select|datalist|textarea)$/i;

/** Inline elements; all others begin and end lines. */
const IN_LINE =
  /^(?:a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|img|ins|kbd|label|mark|q|ruby|rb|rp|rt|s|samp|small|span|strike|strong|sub|sup|time|tt|u|var|wbr)$/i;

/** Yields the text of a tree in order, with line breaks at elements. Works at any depth: it uses no stack. */
function* piecesOf(root: TreeNode): Generator<string> {
  let node: TreeNode | null = root;
  while (node !== null) {
    yield node.nodeType === TEXT ? extractText(node) : findEdge(node);
    const child: TreeNode | null = isSeen(node) ? node.firstChild : null;
    if (child !== null) {
      node = child;
      continue;
    }
    yield findEdge(node);
    while (node !== null && node !== root && node.nextSibling === null) {
      node = node.parentNode;
      if (node !== null) yield findEdge(node);
    }
    node = node === root ? null : (node?.nextSibling ?? null);
  }
}

/** Line breaks of the source are not line breaks of the page. */
const extractText = ({ nodeValue }: TreeNode): string => (nodeValue ?? '').replace(/\s+/g, ' ');

const isSeen = (node: TreeNode): boolean =>
  node.nodeType !== ELEMENT || !(UNSEEN.test(node.nodeName) || node.hasAttribute?.('hidden') === true);

function findEdge({ nodeType, nodeName }: TreeNode): string {
  if (nodeType !== ELEMENT || IN_LINE.test(nodeName)) return '';
  // Cells share a line.
  return /^t[dh]$/i.test(nodeName) ? ' ' : '\n';
}
