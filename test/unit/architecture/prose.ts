import { parseSync } from 'vite';

/** A piece of text that a person reads: a comment, a text in code, or a line of a page. */
export interface Prose {
  kind: 'comment' | 'text' | 'page';
  /** The first line of the piece, from 1. */
  line: number;
  text: string;
}

/** A word or phrase that does not come back, and what to say instead. */
interface Wording {
  pattern: RegExp;
  instead: string;
}

/**
 * The terms are those of SQS, Standard Webhooks and Stripe. Names in backticks are not checked: fields keep
 * theirs.
 */
const WORDINGS: readonly Wording[] = [
  {
    pattern: /\b(?:who|whom|what)ever\b|\b(?:no|some|any)body(?:'s)?\b/i,
    instead: 'the caller, the operator, an admin, a tenant',
  },
  { pattern: /\b(?:deals?|dealing|dealt)\b/i, instead: 'process, handle' },
  { pattern: /\b(?:owed?|owes|owing)\b/i, instead: 'work item, pending, created' },
  { pattern: /\btold\b|\btells? (?:of|whom)\b/i, instead: 'report, notify, skip' },
  { pattern: /\bstandings?\b/i, instead: 'state, claimability' },
  { pattern: /\bdoors?\b/i, instead: 'authentication mode' },
  { pattern: /\breminders?\b/i, instead: 'delivery message' },
  { pattern: /\bunder way\b/i, instead: 'in progress, running' },
  { pattern: /\blook(?:s|ed|ing) (?:at|after)\b/i, instead: 'check, read, poll' },
  { pattern: /\bwip(?:e|es|ed|ing)\b/i, instead: 'delete' },
  { pattern: /\bsen(?:d|ds|t|ding) again\b|\bsendings\b/i, instead: 'resend' },
  { pattern: /\bremembered\b/i, instead: 'cached, stored' },
  { pattern: /\b(?:is|are|was|were) had\b|\b(?:of ours|of yours|of theirs)\b/i, instead: 'name the subject' },
  {
    pattern: /\bnews\b|\bfates?\b|\bsurroundings\b|\bmanners?\b/i,
    instead: 'change notification, outcome, environment, pace class',
  },
  { pattern: /\bnothing (?:needs|can be done)\b|\bwaits? for company\b/i, instead: 'say what is the case' },
];

/** @returns `say "instead", not "found"` for each wording that the text has */
export const findWordings = (text: string): string[] => {
  const words = text.replace(/`[^`]*`/g, '``').replace(/\s+/g, ' ');
  return WORDINGS.flatMap(({ pattern, instead }) => {
    const [match] = pattern.exec(words) ?? [];
    return match === undefined ? [] : [`"${match}": say ${instead}`];
  });
};

type Node = { type: string; start: number } & Record<string, unknown>;

const lineAt = (source: string, offset: number): number => source.slice(0, offset).split('\n').length;
/** A sentence has at least three words; shorter texts are codes, keys and labels. */
const isSentence = (text: string): boolean => /\p{L}+ \S+ \p{L}+/u.test(text);

/**
 * Comments and sentences of a source file.
 * @throws Error when the file cannot be parsed
 */
export function readSource(path: string, source: string): Prose[] {
  const { program, comments, errors } = parseSync(path, source);
  if (errors[0] !== undefined) throw new Error(`${path} cannot be read: ${errors[0].message}`);
  const texts: Prose[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) visit(item);
    if (Array.isArray(value) || typeof value !== 'object' || value === null) return;
    const node = value as Node;
    const text = textOf(node);
    if (text !== undefined && isSentence(text))
      texts.push({ kind: 'text', line: lineAt(source, node.start), text });
    for (const [key, child] of Object.entries(node)) if (key !== 'parent') visit(child);
  };
  visit(program);
  return [
    ...comments.map(({ start, value }) => ({
      kind: 'comment' as const,
      line: lineAt(source, start),
      text: value.replace(/^\s*\*/gm, ''),
    })),
    ...texts,
  ];
}

function textOf({ type, value }: Node): string | undefined {
  if (type === 'Literal' && typeof value === 'string') return value;
  if (type === 'JSXText' && typeof value === 'string') return value;
  if (type === 'TemplateElement') return (value as { cooked: string | null }).cooked ?? undefined;
  return undefined;
}

/** Paragraphs of a Markdown page, without code blocks. */
export function readPage(page: string): Prose[] {
  let isCode = false;
  return page.split('\n').flatMap((text, index) => {
    const isFence = /^\s*(?:```|~~~)/.test(text);
    if (isFence) isCode = !isCode;
    return isCode || isFence || text.trim() === '' ? [] : [{ kind: 'page' as const, line: index + 1, text }];
  });
}

/** Lines of comments that are longer than `columns`, by number. */
export function findLongComments(path: string, source: string, columns: number): number[] {
  const lines = source.split('\n');
  if (lines.every(({ length }) => length <= columns)) return [];
  return parseSync(path, source).comments.flatMap(({ start, end }) => {
    const first = lineAt(source, start);
    const last = lineAt(source, end);
    return lines
      .slice(first - 1, last)
      .flatMap((line, index) => (line.length > columns ? [first + index] : []));
  });
}

/** Headings that a comment cites, as in `docs/specification.md, Error types`. */
export function findHeadings(comment: string): { page: string; heading: string }[] {
  const oneLine = comment.replaceAll(/\s*\n\s*(?:\*|\/\/)?\s*/g, ' ');
  return [...oneLine.matchAll(/(docs\/[\w/-]+\.md), ([A-Z][\w -]*[\w])(?=[).,;:]|$)/g)].map(
    ([, page = '', heading = '']) => ({ page, heading }),
  );
}
