import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { checkReceiverUrl, type ReceiverPolicy } from '../../domain/receiver-url.ts';
import type { ReceiverAgent } from './agent.ts';
import { readContent } from './content.ts';
import { ContentError, describeFailure } from './failures.ts';
import { type Deadline, deadlineIn, drain, open, responseTo } from './request.ts';

export interface FetchRequest {
  url: URL;
  /** Sent to whatever it is redirected to as well: nothing that is for the first server alone. */
  headers: Record<string, string>;
  /** Of the body, both as it arrives and decoded. */
  maxBytes: number;
}

export type FetchResult =
  | {
      kind: 'fetched';
      /** Where the redirects led to. */
      url: string;
      contentType?: string;
      /** Validators for the next request, as the server gave them; those that no request could carry are left out. */
      etag?: string;
      lastModified?: string;
      body: Uint8Array;
    }
  /** The conditions of the request (RFC 9110, section 13.1) were not met: there is nothing new. */
  | { kind: 'not-modified' }
  | {
      kind: 'failed';
      /** One line that whoever named the URL may read. */
      error: string;
    };

export interface RetrieveOptions {
  agent: ReceiverAgent;
  policy: ReceiverPolicy;
  /** One deadline over everything, redirects and the body included. */
  timeoutMs: number;
}

const MAX_REDIRECTS = 5;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/**
 * Gets what is behind a URL, by way of at most five redirects, each of which has to pass the receiver rule like the URL itself. Whatever
 * the servers do, the result is there by the deadline, and no more is held in memory than twice `maxBytes`.
 *
 * The agent must guard the addresses of names.
 *
 * @throws TypeError for headers that HTTP cannot carry
 */
export async function retrieve(request: FetchRequest, options: RetrieveOptions): Promise<FetchResult> {
  const deadline = deadlineIn(options.timeoutMs);
  try {
    let check = checkReceiverUrl(request.url.href, options.policy);
    if (!check.ok) return failed(check.problem);

    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const answer = await ask({ ...request, url: check.url }, options.agent, deadline);
      if (answer.kind !== 'redirected') return answer;

      check = checkReceiverUrl(answer.to, options.policy);
      if (!check.ok) return failed(`redirected to where requests may not go: ${check.problem}`);
    }
    return failed('redirected too often');
  } catch (error) {
    if (error instanceof TypeError) throw error;
    return failed(describeFailure(error, options.timeoutMs));
  } finally {
    deadline.cancel();
  }
}

const failed = (error: string): FetchResult => ({ kind: 'failed', error });

type Answer = FetchResult | { kind: 'redirected'; to: string };

async function ask(request: FetchRequest, agent: ReceiverAgent, deadline: Deadline): Promise<Answer> {
  const { url, headers } = request;
  agent.closeIdle();
  const fields = { host: url.host, ...headers, 'accept-encoding': 'identity' };
  const outgoing = open({ method: 'GET', url, headers: fields }, agent);
  deadline.over(outgoing);
  try {
    const response = responseTo(outgoing);
    outgoing.end();
    return await answerOf(request, outgoing, await Promise.race([response, deadline.passed]), deadline);
  } catch (error) {
    outgoing.destroy();
    throw error;
  }
}

async function answerOf(
  request: FetchRequest,
  outgoing: ClientRequest,
  response: IncomingMessage,
  deadline: Deadline,
): Promise<Answer> {
  const { statusCode: status = 0, headers } = response;
  if (status === 200) {
    const body = await Promise.race([readContent(response, request.maxBytes), deadline.passed]);
    return { kind: 'fetched', url: request.url.href, ...described(headers), body };
  }

  if (status < 200) outgoing.destroy();
  else drain(outgoing, response);
  if (REDIRECTS.includes(status)) return redirected(headers.location, request.url);
  if (status === 304 && isConditional(request)) return { kind: 'not-modified' };
  throw new ContentError(`the server answered ${status}`);
}

/** @returns where to, without the fragment, which is no part of a request */
function redirected(location: string | undefined, from: URL): Answer {
  // A field is read byte by byte; what is not ASCII in it is UTF-8 by custom.
  const target =
    location === undefined ? null : URL.parse(Buffer.from(location, 'latin1').toString(), from.href);
  if (target === null) throw new ContentError('redirected without saying where to');
  target.hash = '';
  return { kind: 'redirected', to: target.href };
}

const isConditional = ({ headers }: FetchRequest): boolean =>
  Object.keys(headers).some((name) => /^if-(none-match|modified-since)$/i.test(name));

const VISIBLE = /^[\x21-\x7e]{1,1024}$/;
const VISIBLE_OR_SPACE = /^[\x20-\x7e]{1,200}$/;

/** Keeps of the server's words about its content only what is as it should be: they are stored, and two of them sent back. */
function described(headers: IncomingHttpHeaders): {
  contentType?: string;
  etag?: string;
  lastModified?: string;
} {
  const { 'content-type': contentType, etag, 'last-modified': lastModified } = headers;
  return {
    ...(contentType !== undefined && VISIBLE_OR_SPACE.test(contentType) && { contentType }),
    ...(etag !== undefined && VISIBLE.test(etag) && { etag }),
    ...(lastModified !== undefined && VISIBLE_OR_SPACE.test(lastModified) && { lastModified }),
  };
}
