import { createHash } from 'node:crypto';
import {
  type Answer,
  type ReceivedDelivery,
  startReceiver,
} from '../../../../packages/cli/src/receiver/receiver.ts';

/** A web page on this machine that a test can change. */
export interface Page {
  url: string;
  /** All requests, including those answered with 304. */
  requests: ReceivedDelivery[];
  notModified(): number;
  set(html: string): void;
  stop(): Promise<void>;
}

/** Serves a page over TLS with an ETag of its content. */
export async function startPage(tls: { cert: string; key: string }, html: string): Promise<Page> {
  const requests: ReceivedDelivery[] = [];
  let current = html;
  let notModified = 0;
  const { url, stop } = await startReceiver({
    ...tls,
    onDelivery: (request) => requests.push(request),
    respond({ headers }): Answer {
      const etag = `"${createHash('sha256').update(current).digest('hex')}"`;
      if (headers['if-none-match'] === etag) {
        notModified += 1;
        return { status: 304, headers: { etag } };
      }
      return { status: 200, headers: { etag, 'content-type': 'text/html; charset=utf-8' }, body: current };
    },
  });
  return {
    url: `${url}/handbook`,
    requests,
    notModified: () => notModified,
    set(changed) {
      current = changed;
    },
    stop,
  };
}

/** An HTML page whose main text consists of these paragraphs. */
export const pageOf = (...paragraphs: string[]): string => `<!doctype html>
<html lang="en"><head><title>Handbook</title><script>track()</script></head>
<body><nav><a href="/">Home</a></nav>
<article><h1>Handbook</h1>${paragraphs.map((text) => `<p>${text}</p>`).join('\n')}</article>
<footer>Imprint</footer></body></html>`;

/** Words that no other paragraph contains. */
export const paragraph = (name: string, words = 60): string =>
  `${Array.from({ length: words }, (_, index) => `${name}${index}`).join(' ')}.`;
