import { ContentProblem } from './problem.ts';

/** Far more than a feed or a sheet has; what is nested deeper is made to fill a stack. */
const MAX_DEPTH = 200;

const TAG = /<(\/?)[\p{L}_:][^<>]*/gu;

/**
 * Refuses XML that could become more than it is: declarations of entities, which name other entities or files, and depth without end. No parser has seen it yet.
 * @throws ContentProblem
 */
export function checkXml(xml: string, what: string): void {
  const markup = markupOf(xml);
  if (/<!(?:DOCTYPE|ENTITY)/i.test(markup)) throw new ContentProblem(`the ${what} declares entities`);

  let depth = 0;
  for (const [tag, end] of markup.matchAll(TAG)) {
    if (tag.endsWith('/')) continue;
    depth += end === '' ? 1 : -1;
    if (depth > MAX_DEPTH) throw new ContentProblem(`the ${what} is nested too deeply`);
  }
}

/** A document without its comments and sections of text, in which anything may stand. */
function markupOf(xml: string): string {
  const parts: string[] = [];
  let from = 0;
  for (const { index: start, 0: open } of xml.matchAll(/<!(?:--|\[CDATA\[)/g)) {
    // Within one that was left out already.
    if (start < from) continue;
    parts.push(xml.slice(from, start));
    const end = open === '<!--' ? '-->' : ']]>';
    const close = xml.indexOf(end, start + open.length);
    if (close < 0) return parts.join(' ');
    from = close + end.length;
  }
  return [...parts, xml.slice(from)].join(' ');
}
