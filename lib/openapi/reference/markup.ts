import { Marked } from 'marked';

/** Text that is HTML. */
export interface Markup {
  readonly html: string;
}
type Value = string | number | undefined | Markup | readonly Value[];

/** A template of HTML. Values are escaped, except what is HTML itself; undefined is nothing. */
export const html = (parts: TemplateStringsArray, ...values: readonly Value[]): Markup => ({
  html: parts.map((part, index) => `${part}${rendered(values[index])}`).join(''),
});

function rendered(value: Value): string {
  if (value === undefined) return '';
  if (typeof value !== 'object') return escapeHtml(String(value));
  return 'html' in value ? value.html : value.map(rendered).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};
const escapeHtml = (text: string): string => text.replaceAll(/[&<>"]/g, (mark) => ENTITIES[mark] ?? mark);

/** Code or data of several lines. It may scroll, so the keyboard reaches it. */
export const codeBlock = (text: string, label: string): Markup =>
  html`<pre tabindex="0" role="group" aria-label="${label}"><code>${text}</code></pre>`;

/**
 * Renders CommonMark with tables.
 * @param linkOf where a name in code leads to: operations name each other
 */
export function markdownRenderer(linkOf: (name: string) => string | undefined): (text: string) => Markup {
  const marked = new Marked({
    renderer: {
      codespan({ text }) {
        const link = linkOf(text);
        const code = `<code>${escapeHtml(text)}</code>`;
        return link === undefined ? code : `<a href="${link}">${code}</a>`;
      },
      table({ header, rows }) {
        const cells = (tag: 'th' | 'td', row: typeof header) =>
          row
            .map(({ tokens, text }) => {
              // A heading without a text names nothing.
              const name = text === '' ? 'td' : tag;
              return `<${name}>${this.parser.parseInline(tokens)}</${name}>`;
            })
            .join('');
        const body = rows.map((row) => `<tr>${cells('td', row)}</tr>`).join('');
        return `<div class="scroll" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${cells('th', header)}</tr></thead><tbody>${body}</tbody></table></div>`;
      },
    },
  });
  return (text) => ({ html: marked.parse(text, { async: false }) });
}
