export const HEADER = '# Written by `npm run generate -- python`. Do not edit.\n';

const COLUMNS = 110;

/**
 * A call or a signature, as formatters of Python break it.
 * @param start with the opening bracket
 * @param end from the closing bracket on
 */
export function wrap(start: string, parts: readonly string[], end: string): string[] {
  const line = `${start}${parts.join(', ')}${end}`;
  if (line.length <= COLUMNS) return [line];
  const indent = `${/^ */.exec(start)}    `;
  const inner = `${indent}${parts.join(', ')}`;
  const body = inner.length <= COLUMNS ? [inner] : parts.map((part) => `${indent}${part},`);
  return [start, ...body, `${indent.slice(4)}${end}`];
}
