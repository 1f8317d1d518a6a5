import { ContentProblem } from './text.ts';

/** Far more than a feed or a sheet has. Deeper nesting could overflow a parser's stack. */
const MAX_DEPTH = 200;

/**
 * Characters that can end a tag or a quotation. A regular expression for whole tags could overflow the stack
 * on a long tag.
 */
const IN_TAG = /[<>"']/g;
const IN_QUOTATION = { '"': /[<"]/g, "'": /[<']/g };

/**
 * Refuses entity declarations and deep nesting, before a parser reads the XML. Also refuses text that parsers
 * could read differently, so that none finds a declaration where this function finds a comment.
 * @throws ContentProblem
 */
export function checkXml(xml: string, what: string): void {
  let depth = 0;
  for (let start = xml.indexOf('<'); start >= 0; ) {
    const markup = parseMarkup(xml, start);
    if (markup === undefined) throw new ContentProblem(`the content is not a valid ${what}`);
    if (markup === 'declaration') throw new ContentProblem(`the ${what} declares entities`);
    const { kind, end } = markup;
    depth += kind === 'opens' ? 1 : kind === 'closes' ? -1 : 0;
    if (depth > MAX_DEPTH) throw new ContentProblem(`the ${what} is nested too deeply`);
    start = xml.indexOf('<', end);
  }
}

interface Markup {
  kind: 'opens' | 'closes' | 'neither';
  /** Position after the markup. */
  end: number;
}

/** @returns the markup at `start`; undefined when it has no end */
function parseMarkup(xml: string, start: number): Markup | 'declaration' | undefined {
  for (const [open, close] of [
    ['<!--', '-->'],
    ['<![CDATA[', ']]>'],
  ] as const)
    if (xml.startsWith(open, start)) {
      const end = xml.indexOf(close, start + open.length);
      return end < 0 ? undefined : { kind: 'neither', end: end + close.length };
    }
  if (xml.startsWith('<!', start)) return 'declaration';

  const end = findTagEnd(xml, start);
  if (end === undefined) return undefined;
  if (xml.startsWith('<?', start))
    return xml.startsWith('?>', end - 2) ? { kind: 'neither', end } : undefined;
  if (xml.startsWith('</', start)) return { kind: 'closes', end };
  return { kind: xml.startsWith('/>', end - 2) ? 'neither' : 'opens', end };
}

/**
 * Finds the end of a tag or processing instruction.
 * @returns the position after the first `>` outside quotation marks; undefined when there is none, or when
 * another `<` comes first (XML 1.0, section 3.1)
 */
function findTagEnd(xml: string, start: number): number | undefined {
  for (let at = findNext(IN_TAG, xml, start + 1); at !== undefined; at = findNext(IN_TAG, xml, at + 1)) {
    const character = xml[at];
    if (character === '>') return at + 1;
    if (character !== '"' && character !== "'") return undefined;
    at = findNext(IN_QUOTATION[character], xml, at + 1);
    if (at === undefined || xml[at] !== character) return undefined;
  }
  return undefined;
}

function findNext(characters: RegExp, text: string, from: number): number | undefined {
  characters.lastIndex = from;
  return characters.exec(text)?.index;
}
