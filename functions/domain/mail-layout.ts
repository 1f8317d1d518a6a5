/** What an e-mail is made of, in the order of its reading. */
export type MailPart =
  | { heading: string }
  | { paragraph: string }
  /** Terms and their values. */
  | { facts: readonly (readonly [term: string, value: string])[] }
  /** Lines of somebody else's text. */
  | { title: string; quotation: readonly string[]; tone: 'added' | 'removed' }
  | { link: string; href: string }
  /** What is there to be found by who looks for it. */
  | { note: string };

/** Columns of a line (RFC 3676, section 4.2). */
const COLUMNS = 72;

/** For programs that show no HTML, and people who want none. */
export const plainText = (parts: readonly MailPart[]): string =>
  `${parts.map((part) => plain(part)).join('\n\n')}\n`;

function plain(part: MailPart): string {
  if ('heading' in part)
    return `${wrapped(part.heading)}\n${'='.repeat(Math.min(part.heading.length, COLUMNS))}`;
  if ('paragraph' in part) return wrapped(part.paragraph);
  if ('facts' in part) return part.facts.map(([term, value]) => wrapped(`${term}: ${value}`)).join('\n');
  if ('quotation' in part)
    return [`${part.title}:`, ...part.quotation.map((line) => wrapped(line, '> '))].join('\n');
  if ('link' in part) return `${part.link}:\n${part.href}`;
  return `-- \n${wrapped(part.note)}`;
}

/** Breaks lines at spaces. A word that is longer than a line has one of its own. */
function wrapped(text: string, prefix = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && prefix.length + line.length + 1 + word.length > COLUMNS) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((each) => prefix + each).join('\n');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (mark) => ESCAPES[mark] ?? '');

const FONT =
  'font-family:system-ui,-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif;font-size:16px;line-height:1.5';
const TONES = { added: '#16a34a', removed: '#dc2626' } as const;
/** Addresses and excerpts may be one long word. */
const BREAKS = 'overflow-wrap:anywhere;word-break:break-word';

/**
 * A page that loads nothing and runs nothing. It sets no colours of text and ground but for the link, so that it is dark where everything else is;
 * styles are inline, because many programs drop the others.
 */
export const html = (title: string, parts: readonly MailPart[]): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no, date=no, address=no, email=no, url=no">
<title>${escaped(title)}</title>
</head>
<body style="margin:0;padding:24px 16px;${FONT}">
<div style="max-width:600px;margin:0 auto;${BREAKS}">
${parts.map((part) => element(part)).join('\n')}
</div>
</body>
</html>
`;

function element(part: MailPart): string {
  if ('heading' in part)
    return `<h1 style="margin:0 0 16px;font-size:24px;line-height:1.25">${escaped(part.heading)}</h1>`;
  if ('paragraph' in part) return `<p style="margin:0 0 16px">${escaped(part.paragraph)}</p>`;
  if ('facts' in part)
    return `<table role="presentation" style="margin:0 0 16px;border-collapse:collapse;${FONT}">
${part.facts.map(([term, value]) => row(term, value)).join('\n')}
</table>`;
  if ('quotation' in part)
    return `<p style="margin:0 0 4px;font-weight:600">${escaped(part.title)}</p>
<blockquote dir="auto" style="margin:0 0 16px;padding:4px 0 4px 12px;border-left:4px solid ${TONES[part.tone]};${BREAKS}">${part.quotation.map(escaped).join('<br>')}</blockquote>`;
  if ('link' in part)
    return `<p style="margin:24px 0"><a href="${escaped(part.href)}" style="display:inline-block;padding:10px 16px;border-radius:6px;background:#1d4ed8;color:#ffffff;font-weight:600;text-decoration:none">${escaped(part.link)}</a></p>`;
  return `<p style="margin:0;padding-top:16px;border-top:1px solid #8888;font-size:13px;opacity:0.8">${escaped(part.note)}</p>`;
}

const row = (term: string, value: string): string =>
  `<tr><th scope="row" style="padding:2px 16px 2px 0;text-align:left;vertical-align:top;font-weight:600;white-space:nowrap">${escaped(term)}</th><td dir="auto" style="padding:2px 0;text-align:left;vertical-align:top;${BREAKS}">${escaped(value)}</td></tr>`;
