import { Parser } from 'htmlparser2';
import { Collector, ContentProblem, type Reading, toTitle } from './text.ts';

/** More than any real page has. Some steps take time proportional to elements times depth. */
const MAX_DEPTH = 1000;
const MAX_ELEMENTS = 200_000;

/**
 * Returns the text that a visitor reads on a page, without navigation, notices of consent and teasers.
 * @param choice of the page's previous reading, whose part is read again while it holds a third of the page
 */
export function readPage(html: string, choice?: string): Reading {
  const page = parseHtml(html, 'page');
  const keptLinks = omitParts(page, choice?.startsWith(WITH_LINKS));
  const part = choosePart(page, choice?.replace(WITH_LINKS, ''));
  const collector = new Collector();
  for (const piece of walkText(part)) collector.add(piece);
  const title = toTitle(page.title);
  return {
    text: collector.text(),
    ...(title !== undefined && { title }),
    choice: `${keptLinks ? WITH_LINKS : ''}${describePart(part)}`,
  };
}

const WITH_LINKS = 'links ';

/** Returns the text of an HTML fragment, such as a feed item's. May be empty. */
export function extractFragmentText(html: string): string {
  if (!/[<&]/.test(html)) return html;
  return [...walkText(parseHtml(html, 'feed').body)].join('');
}

/** An element with visible text. Sizes are in characters, and exclude parts that are left out. */
interface Part {
  name: string;
  role: string;
  /** Its id and classes. */
  labels: string[];
  isHidden: boolean;
  parent: Part | undefined;
  children: (Part | string)[];
  isOmitted: boolean;
  size: number;
  linkedSize: number;
  links: number;
  /** Sums of money. */
  amounts: number;
  /** Of running text: long blocks, mostly outside links. All text of an inline element. */
  proseSize: number;
}

interface Page {
  title: string | undefined;
  body: Part;
  /** All parts below the body, each after its parent. */
  parts: Part[];
}

const toSet = (names: string): ReadonlySet<string> => new Set(names.split(' '));

/** Elements without visible text. */
const INVISIBLE = toSet(
  'audio canvas datalist embed iframe math noembed noframes noscript object script select style svg template textarea title video',
);

/** Inline elements; all others start and end lines. */
const IN_LINE = toSet(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q ruby rb rp rt s samp small span strike strong sub sup time tt u var wbr',
);

/** Elements of which a page has one, wherever their tags are: HTML allows to omit and to repeat them. */
const SINGLE = toSet('html head body');

/** Measures depth and elements as the parser sees them: text of scripts and comments looks like tags. */
function parseHtml(html: string, what: 'page' | 'feed'): Page {
  const body = createPart('body', {}, undefined);
  const page: Page = { title: undefined, body, parts: [] };
  let part = body;
  let elements = 0;
  let depth = 0;
  let invisibleFrom = Number.POSITIVE_INFINITY;
  let title: string[] | undefined;
  const parser = new Parser({
    onopentag(name, attributes) {
      elements += 1;
      depth += 1;
      if (elements > MAX_ELEMENTS)
        throw new ContentProblem(`the ${what} has more than ${MAX_ELEMENTS} elements`);
      if (depth > MAX_DEPTH) throw new ContentProblem(`the ${what} is nested too deeply`);
      if (name === 'title') title ??= [];
      if (depth >= invisibleFrom) return;
      if (SINGLE.has(name)) part.children.push('\n');
      else if (INVISIBLE.has(name) || attributes.hidden !== undefined) invisibleFrom = depth;
      else {
        const child = createPart(name, attributes, part);
        part.children.push(child);
        page.parts.push(child);
        part = child;
      }
    },
    ontext(text) {
      // Line breaks of the source are spaces on the page.
      if (depth < invisibleFrom) part.children.push(text.replace(/\s+/g, ' '));
      else if (page.title === undefined) title?.push(text);
    },
    onclosetag(name) {
      if (name === 'title') page.title ??= title?.join('');
      if (depth < invisibleFrom)
        if (SINGLE.has(name)) part.children.push('\n');
        else part = part.parent ?? body;
      if (depth === invisibleFrom) invisibleFrom = Number.POSITIVE_INFINITY;
      depth -= 1;
    },
  });
  parser.end(html);
  return page;
}

/** UTF-16 code units of an attribute that are read. */
const MAX_ATTRIBUTE_LENGTH = 300;

/** An id made of a heading, which names the subject of a part and not its kind. */
const TITLE_ID = /^[^-_]+(?:[-_]+[^-_]+){3}/;

function createPart(
  name: string,
  attributes: Readonly<Record<string, string>>,
  parent: Part | undefined,
): Part {
  const read = (attribute: string) => (attributes[attribute] ?? '').slice(0, MAX_ATTRIBUTE_LENGTH);
  return {
    name,
    role: read('role'),
    labels: `${TITLE_ID.test(read('id')) ? '' : read('id')} ${read('class')}`
      .split(/\s+/)
      .filter((label) => label !== ''),
    isHidden: read('aria-hidden') === 'true' || /display\s*:\s*none/i.test(read('style')),
    parent,
    children: [],
    isOmitted: false,
    size: 0,
    linkedSize: 0,
    links: 0,
    amounts: 0,
    proseSize: 0,
  };
}

/** Characters of a paragraph of running text, at least. */
const PROSE = 80;

const AMOUNT = /[€$£¥]|\d\s?(?:EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN|CZK|HUF|kr|zł)\b|\b(?:EUR|USD|GBP|CHF)\s?\d/;

function measureParts({ body, parts }: Page): void {
  for (const part of [body, ...parts].toReversed()) {
    part.size = 0;
    part.linkedSize = 0;
    part.links = 0;
    part.amounts = 0;
    part.proseSize = 0;
    if (part.isOmitted) continue;
    let inlineSize = 0;
    let inlineLinkedSize = 0;
    for (const child of part.children)
      if (typeof child === 'string') {
        const { length } = child.trim();
        inlineSize += length;
        part.size += length;
        if (AMOUNT.test(child)) part.amounts += 1;
      } else {
        part.size += child.size;
        part.linkedSize += child.linkedSize;
        part.links += child.links;
        part.amounts += child.amounts;
        if (IN_LINE.has(child.name)) {
          inlineSize += child.proseSize;
          inlineLinkedSize += child.linkedSize;
        } else part.proseSize += child.proseSize;
      }
    if (part.name === 'a') {
      part.linkedSize = part.size;
      part.links = 1;
    }
    if (IN_LINE.has(part.name)) part.proseSize = inlineSize;
    else if (inlineSize >= PROSE && inlineLinkedSize < inlineSize / 3)
      part.proseSize += inlineSize - inlineLinkedSize;
  }
}

const toPattern = (labels: string): RegExp =>
  new RegExp(`(?:^|[^a-z])(?:${labels.replaceAll(' ', '|')})(?:$|[^a-z])`);

const NAVIGATION_NAMES = toSet('nav aside footer dialog button menu');
const NAVIGATION_ROLES = toSet(
  'navigation complementary contentinfo search dialog alertdialog menu menubar toolbar tablist banner',
);
const NAVIGATION_LABELS = toPattern(
  'nav navi navbar navigation menu submenu breadcrumbs? sidebar footer pagination pager toolbar login signup skip',
);
const TEASER_LABELS = toPattern(
  'cookies? consent gdpr dsgvo cmp onetrust related recommended recommendations? teasers? promo newsletter subscribe share sharing social comments? disqus respond advert advertisement ads? sponsor sponsored popup overlay outbrain taboola tags rail trending popular most-read read-next up-next also',
);
/** Labels of a state, or of the page's subject. */
const OTHER_LABELS = /^(?:has|with|without|no|is|js|tag|category|post|type|format|status)[-_]/;

const hasLabel = ({ labels }: Part, pattern: RegExp): boolean =>
  labels.some(
    (label) =>
      !OTHER_LABELS.test(label) && pattern.test(label.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()),
  );

const isNavigation = (part: Part): boolean =>
  part.isHidden ||
  NAVIGATION_NAMES.has(part.name) ||
  NAVIGATION_ROLES.has(part.role) ||
  (part.name === 'header' && !isInArticle(part)) ||
  hasLabel(part, NAVIGATION_LABELS);

const isTeaser = (part: Part): boolean => hasLabel(part, TEASER_LABELS);

const isArticle = ({ name, role }: Part): boolean => name === 'main' || name === 'article' || role === 'main';

function isInArticle(part: Part): boolean {
  for (let ancestor = part.parent; ancestor !== undefined; ancestor = ancestor.parent)
    if (isArticle(ancestor)) return true;
  return false;
}

/**
 * Omits what structure and labels mark as navigation, consent or teaser, except a part with most of the text.
 * @param keepLinks whether lists of links are kept; by default where they have most of the text
 * @returns whether they were kept
 */
function omitParts(page: Page, keepLinks: boolean | undefined): boolean {
  const { body, parts } = page;
  measureParts(page);
  for (const child of body.children) if (typeof child !== 'string' && isConsent(child, body)) omitPart(child);
  // Smallest first, so that each part is compared with what remains.
  const bySize = parts.filter(({ size }) => size > 0).sort((a, b) => a.size - b.size);
  for (const part of bySize) if (isNavigation(part) && hasAtMostHalf(part, body)) omitPart(part);
  for (const part of bySize)
    if (isTeaser(part) && hasAtMostHalf(part, body) && part.size <= body.size / 2) omitPart(part);
  measureParts(page);

  const sizeWithLinks = body.size;
  const lists = parts.filter((part) => isListOfLinks(part));
  for (const list of lists) list.isOmitted = true;
  measureParts(page);
  const keptLinks = body.size === 0 || (keepLinks ?? body.size < sizeWithLinks / 2);
  if (keptLinks) for (const list of lists) list.isOmitted = false;
  // A page of navigation only.
  if (sizeWithLinks === 0) for (const part of parts) part.isOmitted = false;
  measureParts(page);
  return keptLinks;
}

/** Whether a part has at most half of the text outside links. */
const hasAtMostHalf = (part: Part, body: Part): boolean =>
  part.size - part.linkedSize <= (body.size - body.linkedSize) / 2;

/** Titles of products are links too, but have prices beside them. */
const isListOfLinks = ({ name, parent, isOmitted, size, linkedSize, links, amounts }: Part): boolean =>
  !isOmitted &&
  !IN_LINE.has(name) &&
  linkedSize > 0.6 * size &&
  amounts < links / 4 &&
  (links >= 3 || (!TITLES.has(name) && parent?.amounts === 0));

const TITLES = toSet('h1 h2 h3 h4 h5 h6 td th dt dd');

function omitPart(part: Part): void {
  part.isOmitted = true;
  for (
    let ancestor = part.parent;
    ancestor !== undefined && !ancestor.isOmitted;
    ancestor = ancestor.parent
  ) {
    ancestor.size -= part.size;
    ancestor.linkedSize -= part.linkedSize;
  }
}

/** Longer than notices of consent are. */
const MAX_CONSENT = 2000;
const AGREEMENT =
  /accept|agree|consent|privacy|akzept|zustimm|datenschutz|einwillig|confidential|privacid|privat/i;

/** Recognizes a notice by its text, because many have no label that says so. */
function isConsent(part: Part, body: Part): boolean {
  if (!CONTAINERS.has(part.name) || part.size > Math.min(MAX_CONSENT, 0.75 * body.size)) return false;
  const text = [...walkText(part)].join('');
  return /cookie/i.test(text) && AGREEMENT.test(text);
}

const CONTAINERS = toSet('div section article main form center table tbody tr td');

/** Characters of running text in an article for which lists of links around it are teasers. */
const ARTICLE = 1000;

/** Chooses the innermost part that has most of the page's text, and of its running text. */
function choosePart({ body, parts }: Page, choice: string | undefined): Part {
  if (choice !== undefined) {
    if (choice === describePart(body)) return body;
    const previous = parts.find((part) => part.size >= body.size / 3 && describePart(part) === choice);
    if (previous !== undefined) return previous;
  }
  const hasProse = body.proseSize > body.size / 4;
  const article = parts.find(
    (part) =>
      isArticle(part) &&
      part.proseSize >= Math.max(ARTICLE, 0.8 * body.proseSize) &&
      part.size - part.linkedSize >= (body.size - body.linkedSize) / 2,
  );
  let chosen = article ?? body;
  const { size, proseSize } = chosen;
  for (;;) {
    const children = chosen.children.filter((child) => typeof child !== 'string');
    // Paragraphs beside a part belong to the same text, and so do columns, unless they are narrow.
    if (children.some((child) => child.name === 'p' && child.proseSize > 0)) return chosen;
    const next = children.find(
      (child) =>
        CONTAINERS.has(child.name) &&
        !isNavigation(child) &&
        !isTeaser(child) &&
        child.size >= (child.name === 'td' ? 0.8 : 0.5) * size &&
        (isArticle(child) || (hasProse && child.proseSize >= 0.8 * proseSize)),
    );
    if (next === undefined) return chosen;
    chosen = next;
  }
}

/** Describes a part by its labels and those around it, in at most 190 characters. */
function describePart(part: Part): string {
  const names: string[] = [];
  for (let around: Part | undefined = part; around !== undefined && names.length < 3; around = around.parent)
    names.unshift([around.name, ...around.labels].join('.'));
  return names
    .join('>')
    .replace(/[^\x21-\x7e]/g, '_')
    .slice(-190);
}

/** Yields the text of a part in order, with line breaks at elements. Not recursive, so any depth works. */
function* walkText(part: Part): Generator<string> {
  const stack: (Part | string)[] = [part];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (typeof node === 'string') yield node;
    else if (!node.isOmitted) {
      const separator = getSeparator(node.name);
      yield separator;
      stack.push(separator);
      for (const child of node.children.toReversed()) stack.push(child);
    }
  }
}

function getSeparator(name: string): string {
  if (IN_LINE.has(name)) return '';
  // Cells of a row share a line.
  return name === 'td' || name === 'th' ? ' ' : '\n';
}
