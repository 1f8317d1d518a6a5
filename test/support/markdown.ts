/** A fenced block of a page. */
export interface CodeBlock {
  /** The first word after the fence: `sh`, `json`, `text`, … */
  language: string;
  /** The second word: the file that the page asks the reader to save. */
  file: string | undefined;
  text: string;
}

const FENCED = /^```(\S*)(?: +(\S+))?[^\n]*\n([\s\S]*?)^```$/gm;

/** In their order. */
export const codeBlocks = (page: string): CodeBlock[] =>
  [...page.matchAll(FENCED)].map(([, language = '', file, text = '']) => ({ language, file, text }));

const withoutCode = (page: string): string => page.replaceAll(FENCED, '');

/** Anchors of the headings, as GitHub makes them: a repeated one ends in `-1`, `-2`, … */
export function anchorsOf(page: string): string[] {
  const seen = new Map<string, number>();
  return [...withoutCode(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => {
    const anchor = title
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}

/** Targets of links and images outside code and without another host. */
export const relativeLinksOf = (page: string): string[] =>
  [
    ...withoutCode(page)
      .replaceAll(/`[^`\n]*`/g, '')
      .matchAll(/\]\(\s*([^()\s]+)[^()]*\)/g),
  ]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z][a-z+.-]*:/i.test(target));
