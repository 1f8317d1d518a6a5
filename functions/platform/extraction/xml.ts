import { ContentProblem } from './problem.ts';

/** Far more than a feed or a sheet has; what is nested deeper is made to fill a stack. */
const MAX_DEPTH = 200;

/** A tag or a processing instruction: up to the first `>` outside of quotation marks, with no further `<` in it, quoted or not (XML 1.0, 3.1). */
const TAG = /<(?:[^<>"']|"[^<"]*"|'[^<']*')*>/y;

/**
 * Refuses XML that could become more than it is: declarations of entities, which name other entities or files, and depth without end. No parser has
 * seen it yet. What parsers could read in different ways is refused as well: then none of them sees a declaration where this one sees a comment.
 * @throws ContentProblem
 */
export function checkXml(xml: string, what: string): void {
  let depth = 0;
  for (let start = xml.indexOf('<'); start >= 0; ) {
    const markup = markupAt(xml, start);
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
  /** Where what follows begins. */
  end: number;
}

/** @returns what begins there; undefined when nothing that does has an end */
function markupAt(xml: string, start: number): Markup | 'declaration' | undefined {
  for (const [open, close] of [
    ['<!--', '-->'],
    ['<![CDATA[', ']]>'],
  ] as const)
    if (xml.startsWith(open, start)) {
      const end = xml.indexOf(close, start + open.length);
      return end < 0 ? undefined : { kind: 'neither', end: end + close.length };
    }
  if (xml.startsWith('<!', start)) return 'declaration';

  TAG.lastIndex = start;
  const tag = TAG.exec(xml)?.[0];
  if (tag === undefined) return undefined;
  const end = start + tag.length;
  if (tag.startsWith('<?')) return tag.endsWith('?>') ? { kind: 'neither', end } : undefined;
  if (tag.startsWith('</')) return { kind: 'closes', end };
  return { kind: tag.endsWith('/>') ? 'neither' : 'opens', end };
}
