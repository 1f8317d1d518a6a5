import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { Collector, ContentProblem, type Reading, toTitle } from './text.ts';

/**
 * More than the largest of pages; each level and element costs time and memory, in part more than in
 * proportion.
 */
const MAX_DEPTH = 1000;
const MAX_ELEMENTS = 200_000;

/**
 * Beyond these the search for an article takes longer than there is time; all of the page's text is taken
 * then.
 */
const MAX_DEPTH_TO_SEARCH = 150;
const MAX_ELEMENTS_TO_SEARCH = 20_000;

/** A page's article as text, or all of its text where no article is found. */
export function readPage(html: string): Reading {
  const { elements, depth } = measureShape(html);
  if (elements > MAX_ELEMENTS) throw new ContentProblem(`the page has more than ${MAX_ELEMENTS} elements`);
  if (depth > MAX_DEPTH) throw new ContentProblem('the page is nested too deeply');

  const page = parseDocument(html);
  const title = toTitle(page.querySelector('title')?.textContent);
  const isSearchable = elements <= MAX_ELEMENTS_TO_SEARCH && depth <= MAX_DEPTH_TO_SEARCH;
  const article = isSearchable ? findArticle(page) : undefined;
  const found = collect(article === undefined ? [] : [article]);
  // The search leaves its document without what it took away.
  const text = found.isBlank() ? collect(parseDocument(html).childNodes).text() : found.text();
  return { text, ...(title !== undefined && { title }) };
}

function collect(roots: Iterable<TreeNode>): Collector {
  const collector = new Collector();
  for (const root of roots) for (const piece of piecesOf(root)) collector.add(piece);
  return collector;
}

/** The text of a piece of HTML, such as an item of a feed has. May be empty. */
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

/** Roughly how many elements a page has, and how deep they are nested, before anything is built of it. */
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

/** What is needed of a node, whoever made it: the functions know no DOM. */
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

/** HTML lets all three be left out; the parser does not put them in. */
function parseDocument(html: string): Page {
  const isWhole = /<html[\s>]/i.test(html) && /<body[\s>]/i.test(html);
  return parseHTML(isWhole ? html : `<html><head></head><body>${html}</body></html>`).document;
}

/** Undefined where none is found, or the search fails: then the text of the whole page is the better one. */
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

/** What stands in a line with what is beside it; all others begin and end lines. */
const IN_LINE =
  /^(?:a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|img|ins|kbd|label|mark|q|ruby|rb|rp|rt|s|samp|small|span|strike|strong|sub|sup|time|tt|u|var|wbr)$/i;

/**
 * The text of a tree in its order, with lines ended where elements do. Takes no stack, however deep the tree
 * is.
 */
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

/** Lines of the source are no lines of the page. */
const extractText = ({ nodeValue }: TreeNode): string => (nodeValue ?? '').replace(/\s+/g, ' ');

const isSeen = (node: TreeNode): boolean =>
  node.nodeType !== ELEMENT || !(UNSEEN.test(node.nodeName) || node.hasAttribute?.('hidden') === true);

function findEdge({ nodeType, nodeName }: TreeNode): string {
  if (nodeType !== ELEMENT || IN_LINE.test(nodeName)) return '';
  // Cells stand in a line.
  return /^t[dh]$/i.test(nodeName) ? ' ' : '\n';
}
