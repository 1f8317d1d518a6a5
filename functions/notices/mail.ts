import { isChannelId } from '../aws/ids.ts';
import type { NoticeData, NoticeType, SourceKind } from '../events/bus.ts';
import { FAILURES_TO_DISABLE } from '../receivers/endpoint.ts';

export interface MailText {
  subject: string;
  text: string;
  html: string;
}

/** One e-mail to all its recipients. */
export interface Mail extends MailText {
  to: readonly string[];
}

/** Recipients of one kind of e-mail per UTC day. SES counts recipients, not messages. */
export interface MailLimits {
  /** For one organization. The first e-mail of a day goes to all admins, however many they are. */
  organization: number;
  /** For all kinds and organizations together; absent for e-mail that the rest of SES's quota is kept for. */
  stage?: number;
}

/**
 * The daily budget of each notice that admins get as e-mail; `false` for the others. What exceeds it is in
 * the dashboard only (docs/decisions/0021-mail-budget.md).
 */
export const MAIL_BUDGETS = {
  'source.changed': { organization: 100, stage: 40_000 },
  'webhook.failing': { organization: 50 },
  'webhook.disabled': { organization: 50 },
  'webhook.redelivery': false,
  'source.check': false,
  'source.deleted': false,
} as const satisfies Record<NoticeType, MailLimits | false>;

/** A notice that admins get as e-mail. */
export type MailKind = {
  [T in NoticeType]: (typeof MAIL_BUDGETS)[T] extends false ? never : T;
}[NoticeType];

export type MailBudgets = Record<MailKind, MailLimits>;

/** Seconds in which admins get at most one warning about an endpoint that keeps failing and recovering. */
export const WARNING_WINDOW_SECONDS = 86_400;

/** Maximum length of a subject in UTF-16 code units, and of a URL in it, which leaves room for an error. */
export const MAX_SUBJECT = 120;
const MAX_SUBJECT_URL = 60;
const MAX_NAME = 120;
const MAX_URL = 300;
const MAX_QUOTATION = 600;
const MAX_PASSAGES = 3;

const KINDS: Record<SourceKind, string> = { url: 'page', spreadsheet: 'spreadsheet', feed: 'feed' };

/**
 * Reports changed content of a source (docs/specification.md, Content-change notifications). Its texts are
 * untrusted.
 */
export function composeContentChangeMail({
  organization,
  sourceId,
  name = '',
  url,
  kind,
  difference,
  added,
  removed,
  noticeSeconds,
  dashboardOrigin,
}: Omit<NoticeData<'source.changed'>, 'version'> & {
  organization: string;
  name: string | undefined;
  noticeSeconds: number;
  dashboardOrigin: string;
}): MailText {
  const figure = `${Number(difference.toFixed(1))}%`;
  const heading = `Content changed by ${figure}`;
  const sourceName = toOneLine(name) || URL.parse(url)?.hostname || `a ${KINDS[kind]}`;
  const owner = escapeForeignText(organization, MAX_NAME);
  return composeMail(heading, sourceName, [
    {
      paragraph: `The content of a ${KINDS[kind]} that ${owner} imports differs from the version that you were last notified of, or from the first import: ${figure} of the words in both versions were added or removed.`,
    },
    { facts: [['Source', escapeForeignText(sourceName, MAX_NAME)], formatUrl(url)] },
    ...buildQuotations('Added, largest passages first', added, 'added'),
    ...buildQuotations('Removed, largest passages first', removed, 'removed'),
    { link: 'See what changed', href: `${dashboardOrigin}/sources/${sourceId}` },
    { link: 'Change notification settings', href: `${dashboardOrigin}/settings` },
    {
      note: `You get this e-mail because you are an admin of ${owner}. At most one is sent per source in ${formatDuration(noticeSeconds)}. The quoted text comes from the URL above.`,
    },
  ]);
}

/** A webhook endpoint or channel with failing deliveries. */
interface FailingReceiver extends NoticeData<'webhook.failing'> {
  organization: string;
  /** Undefined when it is deleted. */
  url: string | undefined;
  dashboardOrigin: string;
}

/** Warns that deliveries fail, before the webhook endpoint or channel is disabled (docs/specification.md). */
export function composeFailingMail({
  consecutiveFailures,
  ...receiver
}: FailingReceiver & { consecutiveFailures: number }): MailText {
  const { what, nextStep, owner, name, facts } = describeReceiver(receiver);
  const left = FAILURES_TO_DISABLE - consecutiveFailures;
  const count = `${consecutiveFailures} of ${FAILURES_TO_DISABLE}`;
  return composeMail(`${what} failing (${count})`, name, [
    {
      paragraph: `A ${what.toLowerCase()} of ${owner} failed to receive ${consecutiveFailures} deliveries in a row (${count}), each with all of its attempts. After ${left} more in a row it is disabled, and gets no more deliveries until you ${nextStep}.`,
    },
    { facts },
    ...buildCauseLink(receiver),
    {
      paragraph: `Check its receiver. The next delivery that succeeds ends the count.${PAUSE}`,
    },
    buildReceiverLink(receiver),
    {
      note: `You get this e-mail because you are an admin of ${owner}. At most one is sent for it in ${formatDuration(WARNING_WINDOW_SECONDS)}.`,
    },
  ]);
}

/** Reports that a webhook endpoint or channel was disabled (docs/specification.md, Deliveries). */
export function composeDisabledMail({
  disabledAt,
  ...receiver
}: FailingReceiver & { disabledAt: string }): MailText {
  const { what, recovery, owner, name, facts } = describeReceiver(receiver);
  return composeMail(`${what} disabled`, name, [
    {
      paragraph: `A ${what.toLowerCase()} of ${owner} failed to receive ${FAILURES_TO_DISABLE} deliveries in a row, each with all of its attempts, and was disabled. It gets no more deliveries.`,
    },
    { facts: [...facts, ['Disabled at', `${disabledAt.slice(0, 16).replace('T', ' ')} UTC`]] },
    ...buildCauseLink(receiver),
    { paragraph: `It stays disabled. When its receiver works again, ${recovery}${PAUSE}` },
    buildReceiverLink(receiver),
    { note: `You get this e-mail because you are an admin of ${owner}. It is sent once.` },
  ]);
}

const PAUSE =
  ' Before a planned outage, pause it: nothing counts as a failure, and what it misses is sent when you resume it.';

/** Where the documentation says what to check and to do, by the cause of the last failure. */
const buildCauseLink = ({ lastErrorCode, dashboardOrigin }: FailingReceiver): MailPart[] =>
  lastErrorCode === undefined
    ? []
    : [{ link: 'What to do about this error', href: `${dashboardOrigin}/api/docs#cause-${lastErrorCode}` }];

/** Words for a receiver, and its facts without the query of its URL. Its error is untrusted text. */
function describeReceiver(receiver: FailingReceiver) {
  const { organization, webhookId, url } = receiver;
  const [what, nextStep, recovery] = isChannelId(receiver.webhookId)
    ? [
        'Channel',
        'resume it',
        'resume the channel: that resends the messages that it missed, and keeps its signing secret.',
      ]
    : [
        'Webhook endpoint',
        'register the endpoint again',
        'register the endpoint again, which creates a new signing secret, and resend what it missed. The dashboard has one page for both.',
      ];
  const shownUrl = url === undefined ? undefined : formatUrl(removeQuery(url));
  const lastError = toOneLine(receiver.lastError);
  const facts: (readonly [string, string])[] = [
    [what, webhookId],
    ...(shownUrl === undefined ? [] : [shownUrl]),
    ...(lastError === '' ? [] : [['Last error', escapeForeignText(lastError, 300)] as const]),
  ];
  const address = shorten(shownUrl?.[1] ?? webhookId, MAX_SUBJECT_URL);
  return {
    what,
    nextStep,
    recovery,
    owner: escapeForeignText(organization, MAX_NAME),
    /** For the subject. */
    name: lastError === '' ? address : `${address} (${lastError})`,
    facts,
  };
}

const buildReceiverLink = (receiver: FailingReceiver): MailPart =>
  isChannelId(receiver.webhookId)
    ? { link: 'Open the channel', href: `${receiver.dashboardOrigin}/channels/${receiver.webhookId}` }
    : {
        link: 'Recover the endpoint',
        href: `${receiver.dashboardOrigin}/endpoints/${receiver.webhookId}/recover`,
      };

function composeMail(heading: string, about: string, rest: readonly MailPart[]): MailText {
  const parts = [{ heading }, ...rest];
  return {
    subject: shorten(toOneLine(`${heading}: ${about}`), MAX_SUBJECT),
    text: renderText(parts),
    html: renderHtml(heading, parts),
  };
}

/** Makes untrusted text safe to show, without links. */
const escapeForeignText = (text: string, max: number): string => breakLinks(shorten(toOneLine(text), max));

/** A quotation of each passage, of which the first has the title. */
function buildQuotations(title: string, text: string, tone: 'added' | 'removed'): MailPart[] {
  const passages = text.split(/\n\s*\n/).map((passage) =>
    passage
      .split('\n')
      .map(toOneLine)
      .filter((line) => line !== ''),
  );
  return passages
    .filter((lines) => lines.length > 0)
    .slice(0, MAX_PASSAGES)
    .map((lines, index) => {
      const shown = shorten(lines.join('\n'), MAX_QUOTATION).split('\n');
      return { ...(index === 0 && { title }), quotation: shown.map(breakLinks), tone };
    });
}

/**
 * The parsed URL is ASCII and has no hidden characters. A URL that the parser refuses or that is too long is
 * shown as text.
 */
function formatUrl(url: string): [term: string, value: string] {
  const href = URL.parse(url)?.href ?? '';
  return ['URL', href !== '' && href.length <= MAX_URL ? href : escapeForeignText(url, MAX_URL)];
}

/** Queries of receiver URLs can hold keys, which do not belong in mailboxes. */
function removeQuery(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return url;
  parsed.search = '';
  return parsed.href;
}

function formatDuration(seconds: number): string {
  const [count, unit] = seconds % 3600 === 0 ? [seconds / 3600, 'hour'] : [seconds, 'second'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

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
type MailPart =
  | { heading: string }
  | { paragraph: string }
  | { facts: readonly (readonly [term: string, value: string])[] }
  /** Lines of untrusted text. */
  | { title?: string; quotation: readonly string[]; tone: 'added' | 'removed' }
  | { link: string; href: string }
  /** A remark at the end. */
  | { note: string };

/** Line length (RFC 3676, section 4.2). */
const COLUMNS = 72;

const renderText = (parts: readonly MailPart[]): string =>
  `${parts.map((part) => renderTextPart(part)).join('\n\n')}\n`;

function renderTextPart(part: MailPart): string {
  if ('heading' in part)
    return `${wrapLines(part.heading)}\n${'='.repeat(Math.min(part.heading.length, COLUMNS))}`;
  if ('paragraph' in part) return wrapLines(part.paragraph);
  if ('facts' in part) return part.facts.map(([term, value]) => wrapLines(`${term}: ${value}`)).join('\n');
  if ('quotation' in part)
    return [
      ...(part.title === undefined ? [] : [`${part.title}:`]),
      ...part.quotation.map((line) => wrapLines(line, '> ')),
    ].join('\n');
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
const renderHtml = (title: string, parts: readonly MailPart[]): string => `<!doctype html>
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
    return `${part.title === undefined ? '' : `<p style="margin:0 0 4px;font-weight:600">${escapeHtml(part.title)}</p>\n`}<blockquote dir="auto" style="margin:0 0 16px;padding:4px 0 4px 12px;border-left:4px solid ${TONES[part.tone]};${BREAKS}">${part.quotation.map(escapeHtml).join('<br>')}</blockquote>`;
  if ('link' in part)
    return `<p style="margin:24px 0"><a href="${escapeHtml(part.href)}" style="display:inline-block;padding:10px 16px;border-radius:6px;background:#1d4ed8;color:#ffffff;font-weight:600;text-decoration:none">${escapeHtml(part.link)}</a></p>`;
  return `<p style="margin:0;padding-top:16px;border-top:1px solid #8888;font-size:13px;opacity:0.8">${escapeHtml(part.note)}</p>`;
}

const renderRow = (term: string, value: string): string =>
  `<tr><th scope="row" style="padding:2px 16px 2px 0;text-align:left;vertical-align:top;font-weight:600;white-space:nowrap">${escapeHtml(term)}</th><td dir="auto" style="padding:2px 0;text-align:left;vertical-align:top;${BREAKS}">${escapeHtml(value)}</td></tr>`;
