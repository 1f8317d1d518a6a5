import { createHash } from 'node:crypto';
import type { Answer } from '../gateway/answer.ts';
import { type GatewayRequest, headerOf } from '../gateway/request.ts';
import type { Mailbox } from './mailbox.ts';
import { type Listed, listPage, messagePage, unknownPage } from './pages.ts';
import { STYLE } from './style.ts';

const MAX_LISTED = 200;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
/** No external content, no scripts, no framing; a message's HTML has its own frame. */
const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; frame-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'`;
/** A message has its own styles but cannot run scripts or load anything, also outside the frame. */
const MESSAGE_POLICY = `default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; frame-ancestors 'self'; base-uri 'none'; sandbox allow-popups allow-popups-to-escape-sandbox`;

/** Pages of the mailbox, at `/mailbox` of the local URL. */
export const mailPages =
  (mailbox: Pick<Mailbox, 'names' | 'read'>) =>
  async (request: GatewayRequest): Promise<Answer | undefined> => {
    const [first, name, part, ...others] = request.segments;
    if (first !== 'mailbox' || others.length > 0 || !['GET', 'HEAD'].includes(request.method))
      return undefined;
    if (!isOurName(request)) return undefined;
    if (name === undefined) return answerOf(200, await list(mailbox));
    const message = await mailbox.read(name);
    if (!message) return answerOf(404, unknownPage());
    if (part === undefined) return answerOf(200, messagePage({ name, mail: message.mail }));
    if (part === 'html') return answerOf(200, withOwnWindows(message.mail.html), { policy: MESSAGE_POLICY });
    if (part === 'source') return answerOf(200, message.source, { type: 'message/rfc822' });
    return undefined;
  };

/** Links open a window, as in mail programs: most pages refuse to be shown in the frame. */
const withOwnWindows = (html: string): string =>
  html.replace(/^(?:\s*<!doctype[^>]*>)?/i, '$&<base target="_blank">');

/** Under another name of this machine, an external page could read the mail (DNS rebinding). */
function isOurName(request: GatewayRequest): boolean {
  const host = URL.parse(`http://${headerOf(request, 'host')}`)?.hostname ?? '';
  return ['localhost', '127.0.0.1'].includes(host);
}

async function list(mailbox: Pick<Mailbox, 'names' | 'read'>): Promise<string> {
  const names = await mailbox.names();
  const shown = await Promise.all(
    names.slice(0, MAX_LISTED).map(async (name): Promise<Listed[]> => {
      const message = await mailbox.read(name);
      return message ? [{ name, mail: message.mail }] : [];
    }),
  );
  return listPage(shown.flat(), Math.max(0, names.length - MAX_LISTED));
}

const answerOf = (
  statusCode: number,
  body: string,
  { type = 'text/html; charset=utf-8', policy = PAGE_POLICY } = {},
): Answer => ({
  statusCode,
  headers: {
    'Content-Type': type,
    'Content-Security-Policy': policy,
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  },
  body,
});
