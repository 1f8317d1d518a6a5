import { escapeHtml, htmlPage } from '../pages/html.ts';
import { recipientsOf, type SentMail } from './mail.ts';
import { STYLE } from './style.ts';

export interface Listed {
  name: string;
  mail: SentMail;
}

/**
 * @param shown newest first
 * @param older number of further messages
 */
export function listPage(shown: readonly Listed[], older: number): string {
  const content =
    shown.length === 0
      ? `<div class="card empty"><p>Nothing was sent yet.</p>
<p class="quiet">What the service sends by e-mail comes here, and goes nowhere else.</p></div>`
      : `<div class="card"><table>
<thead><tr><th scope="col">Sent</th><th scope="col">To</th><th scope="col">Subject</th></tr></thead>
<tbody>
${shown.map(row).join('\n')}
</tbody></table></div>`;
  return page(
    'Mailbox',
    `<p class="place">Local run</p>
<h1>Mailbox</h1>
${content}
${older === 0 ? '' : `<p class="quiet">${older} older ones are in the folder.</p>`}
<p class="quiet">Each message is a file in <code>mailbox</code> below the directory of the state, which mail programs open. To simulate
an outage of SES, use recipients at <code>unavailable.test</code>: such messages get a 503.</p>`,
  );
}

export function messagePage({ name, mail }: Listed): string {
  const { from, to, cc, bcc, replyTo, at, subject, text, html } = mail;
  const path = mailPath(name);
  const fields: [label: string, value: string][] = [
    ['From', from],
    ['To', to.join(', ')],
    ['Cc', cc.join(', ')],
    ['Bcc', bcc.join(', ')],
    ['Reply to', replyTo.join(', ')],
  ];
  const rows = fields.filter(([, value]) => value !== '');
  return page(
    subject || NO_SUBJECT,
    `<p class="place"><a href="/mailbox">Mailbox</a></p>
<h1>${escapeHtml(subject || NO_SUBJECT)}</h1>
<div class="card"><dl>
${rows.map(([label, value]) => `<dt>${label}</dt><dd>${escapeHtml(value)}</dd>`).join('\n')}
<dt>Sent</dt><dd>${time(at)}</dd>
<dt>File</dt><dd><a href="${path}/source" download="${escapeHtml(name)}">${escapeHtml(name)}</a></dd>
</dl></div>
${text === '' ? '' : `<section class="card" aria-labelledby="text"><h2 id="text">Text</h2><pre>${withLinks(text)}</pre></section>`}
${html === '' ? '' : `<section class="card" aria-labelledby="html"><h2 id="html">HTML</h2><iframe sandbox="allow-popups allow-popups-to-escape-sandbox" src="${path}/html" title="The message as HTML"></iframe></section>`}`,
  );
}

export const unknownPage = (): string =>
  page(
    'No such message',
    `<p class="place"><a href="/mailbox">Mailbox</a></p>
<h1>There is no such message</h1>
<p>It may have been deleted.</p>`,
  );

const NO_SUBJECT = '(no subject)';

function row({ name, mail }: Listed): string {
  const subject = escapeHtml(mail.subject || NO_SUBJECT);
  return `<tr><td>${time(mail.at)}</td><td>${escapeHtml(recipientsOf(mail).join(', '))}</td><td><a href="${mailPath(name)}">${subject}</a></td></tr>`;
}

const mailPath = (name: string) => `/mailbox/${encodeURIComponent(name)}`;

function time(at: Date): string {
  const iso = at.toISOString();
  return `<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC</time>`;
}

/** Makes URLs clickable, as mail programs do. */
const withLinks = (text: string) =>
  text
    .split(/(https?:\/\/[^\s<>"]*[^\s<>".,;:!?)'])/)
    .map((part, index) =>
      index % 2 === 0
        ? escapeHtml(part)
        : `<a href="${escapeHtml(part)}" rel="noreferrer">${escapeHtml(part)}</a>`,
    )
    .join('');

const page = (title: string, content: string) => htmlPage(title, STYLE, content);
