const COLUMNS = 110;

/** The text of a committed file. What fits on a line is on one, so that a changed value is a changed line. */
export const jsonText = (content: object): string => `${written(JSON.parse(JSON.stringify(content)))}\n`;

/** @param column where the value begins */
function written(value: unknown, indent = '', column = 0): string {
  // A string has no line breaks of its own in JSON.
  const line = JSON.stringify(value, null, 1).replaceAll(/\n */g, ' ');
  if (typeof value !== 'object' || value === null || column + line.length < COLUMNS) return line;
  const deeper = `${indent}  `;
  const lines = Object.entries(value).map(([key, each]) => {
    const name = Array.isArray(value) ? deeper : `${deeper}${JSON.stringify(key)}: `;
    return `${name}${written(each, deeper, name.length)}`;
  });
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}
