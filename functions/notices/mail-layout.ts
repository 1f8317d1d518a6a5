/**
 * Removes characters that change the writing direction, hide text or break lines. Joiners stay, because
 * languages need them. Empty when nothing visible remains.
 */
export function toOneLine(text: string): string {
  const line = text
    .toWellFormed()
    .replaceAll(/(?![\u200c\u200d])\p{Cf}/gu, '')
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  return /^[\p{Default_Ignorable_Code_Point} ]*$/u.test(line) ? '' : line;
}

/** Cuts to a number of UTF-16 code units at a character boundary, with an ellipsis where text is cut. */
export const shorten = (text: string, max: number): string =>
  text.length <= max
    ? text
    : `${text
        .slice(0, max - 1)
        .replace(/[\ud800-\udbff]$/, '')
        .trimEnd()}…`;

/** A zero-width space keeps mail programs from making links. */
export const breakLinks = (text: string): string =>
  text
    .replaceAll(/(?<=[\p{L}\p{N}_-])(?=[.\u3002\uff0e\uff61]\p{L})/gu, '\u200b')
    .replaceAll(/:(?=\/\/)/g, ':\u200b')
    .replaceAll('@', '\u200b@');

/** Parts of an e-mail in reading order. */
export type MailPart =
  | { heading: string }
  | { paragraph: string }
  | { facts: readonly (readonly [term: string, value: string])[] }
  /** Lines of untrusted text. */
  | { title: string; quotation: readonly string[]; tone: 'added' | 'removed' }
  | { link: string; href: string }
  /** A remark at the end. */
  | { note: string };

/** Line length (RFC 3676, section 4.2). */
const COLUMNS = 72;

export const renderText = (parts: readonly MailPart[]): string =>
  `${parts.map((part) => renderTextPart(part)).join('\n\n')}\n`;

function renderTextPart(part: MailPart): string {
  if ('heading' in part)
    return `${wrapLines(part.heading)}\n${'='.repeat(Math.min(part.heading.length, COLUMNS))}`;
  if ('paragraph' in part) return wrapLines(part.paragraph);
  if ('facts' in part) return part.facts.map(([term, value]) => wrapLines(`${term}: ${value}`)).join('\n');
  if ('quotation' in part)
    return [`${part.title}:`, ...part.quotation.map((line) => wrapLines(line, '> '))].join('\n');
  if ('link' in part) return `${part.link}:\n${part.href}`;
  return `-- \n${wrapLines(part.note)}`;
}

/** Breaks lines at spaces. A word that is longer than a line has one of its own. */
function wrapLines(text: string, prefix = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && prefix.length + line.length + 1 + word.length > COLUMNS) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((text) => prefix + text).join('\n');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (mark) => ESCAPES[mark] ?? '');

const FONT =
  'font-family:system-ui,-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif;font-size:16px;line-height:1.5';
const TONES = { added: '#16a34a', removed: '#dc2626' } as const;
/** URLs and excerpts may be one long word. */
const BREAKS = 'overflow-wrap:anywhere;word-break:break-word';

/**
 * A page without scripts and loaded resources. It sets only the link's colour, so that it follows the
 * reader's dark mode. Styles are inline, because many mail programs drop others.
 */
export const renderHtml = (title: string, parts: readonly MailPart[]): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no, date=no, address=no, email=no, url=no">
<title>${escapeHtml(title)}</title>
</head>
<body style="margin:0;padding:24px 16px;${FONT}">
<div style="max-width:600px;margin:0 auto;${BREAKS}">
${parts.map((part) => renderHtmlPart(part)).join('\n')}
</div>
</body>
</html>
`;

function renderHtmlPart(part: MailPart): string {
  if ('heading' in part)
    return `<h1 style="margin:0 0 16px;font-size:24px;line-height:1.25">${escapeHtml(part.heading)}</h1>`;
  if ('paragraph' in part) return `<p style="margin:0 0 16px">${escapeHtml(part.paragraph)}</p>`;
  if ('facts' in part)
    return `<table role="presentation" style="margin:0 0 16px;border-collapse:collapse;${FONT}">
${part.facts.map(([term, value]) => renderRow(term, value)).join('\n')}
</table>`;
  if ('quotation' in part)
    return `<p style="margin:0 0 4px;font-weight:600">${escapeHtml(part.title)}</p>
<blockquote dir="auto" style="margin:0 0 16px;padding:4px 0 4px 12px;border-left:4px solid ${TONES[part.tone]};${BREAKS}">${part.quotation.map(escapeHtml).join('<br>')}</blockquote>`;
  if ('link' in part)
    return `<p style="margin:24px 0"><a href="${escapeHtml(part.href)}" style="display:inline-block;padding:10px 16px;border-radius:6px;background:#1d4ed8;color:#ffffff;font-weight:600;text-decoration:none">${escapeHtml(part.link)}</a></p>`;
  return `<p style="margin:0;padding-top:16px;border-top:1px solid #8888;font-size:13px;opacity:0.8">${escapeHtml(part.note)}</p>`;
}

const renderRow = (term: string, value: string): string =>
  `<tr><th scope="row" style="padding:2px 16px 2px 0;text-align:left;vertical-align:top;font-weight:600;white-space:nowrap">${escapeHtml(term)}</th><td dir="auto" style="padding:2px 0;text-align:left;vertical-align:top;${BREAKS}">${escapeHtml(value)}</td></tr>`;
