import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import * as z from 'zod/mini';
import { libraryPath } from '../aws/config.ts';
import { Defect } from '../aws/logger.ts';
import type { ContentClient } from '../delivery/outbound/client.ts';
import { parseProgram, simulate } from '../delivery/simulation.ts';
import { FETCH_TIMEOUT_SECONDS } from '../delivery/timing.ts';
import type { SourceKind } from '../events/bus.ts';
import type { Gate } from '../tenancy/gate.ts';
import { MAX_SOURCE_BYTES, type Source } from './sources.ts';
import { isTooLarge, MAX_TEXT_BYTES, WARNING_CODES } from './text.ts';

const ACCEPT: Record<SourceKind, string> = {
  url: 'text/html, application/xhtml+xml, */*;q=0.1',
  spreadsheet: 'text/csv, application/vnd.openxmlformats-officedocument.spreadsheetml.sheet, */*;q=0.1',
  feed: 'application/atom+xml, application/rss+xml, application/xml;q=0.9, */*;q=0.1',
};

/** What a check finds at a source's URL. */
export type CheckFinding =
  | { kind: 'fetched'; text: string; title?: string; etag?: string; lastModified?: string }
  | { kind: 'not-modified' }
  /** `error`: one line for the source's owner. */
  | { kind: 'failed'; error: string };

/**
 * Returns the text at a source's URL, unless it is unchanged. A sandbox does not fetch: the program in the
 * URL determines the text.
 */
export function sourceContent({
  gate,
  outbound,
  extract,
  userAgent,
}: {
  gate: Gate;
  outbound: Pick<ContentClient, 'fetch'>;
  extract: Extractor;
  userAgent: string;
}) {
  return (source: Source): Promise<CheckFinding> =>
    gate<CheckFinding>(source.orgId, {
      sandbox: async () => simulateContent(source.url, source.checks + 1),
      live: async (permit) => {
        const fetched = await outbound.fetch(
          {
            url: new URL(source.url),
            headers: { 'user-agent': userAgent, ...buildHeaders(source) },
            maxBytes: MAX_SOURCE_BYTES,
          },
          permit,
        );
        if (fetched.kind !== 'fetched') return fetched;
        const { body, contentType, etag, lastModified } = fetched;
        const extracted = await extract(source.kind, { body, contentType });
        if (!extracted.ok) return { kind: 'failed', error: extracted.problem };
        const { text, title } = extracted;
        if (isTooLarge(text))
          return { kind: 'failed', error: `the text is larger than ${MAX_TEXT_BYTES} bytes` };
        return { kind: 'fetched', text, title, etag, lastModified };
      },
    });
}

/** Conditional request headers (RFC 9110, 13.1). */
const buildHeaders = ({ kind, content }: Source): Record<string, string> => ({
  accept: ACCEPT[kind],
  ...(content?.etag !== undefined && { 'if-none-match': content.etag }),
  ...(content?.lastModified !== undefined && { 'if-modified-since': content.lastModified }),
});

/** Fetched content. */
export interface Content {
  body: Uint8Array;
  /** `Content-Type` of the response. */
  contentType?: string;
  /** How the text of the page was chosen at its previous reading. */
  choice?: string | undefined;
}

const Extraction = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true),
    text: z.string(),
    title: z.optional(z.string()),
    warnings: z.optional(z.array(z.object({ code: z.enum(WARNING_CODES), count: z.int() }))),
    choice: z.optional(z.string()),
  }),
  /** `problem`: one line of English. */
  z.object({ ok: z.literal(false), problem: z.string() }),
]);
export type Extraction = z.infer<typeof Extraction>;

/**
 * Returns problems of the content as a value.
 * @throws Error when the reader process does not start, which is a defect of the deployment
 */
export type Extractor = (kind: SourceKind, content: Content) => Promise<Extraction>;

/** Message to the reader process. */
export interface ToReader extends Content {
  kind: SourceKind;
}

/** Messages from the reader process: it has started, and its result. */
export const FromReader = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('begun') }),
  z.object({ kind: z.literal('extracted'), extraction: Extraction }),
]);
export type FromReader = z.infer<typeof FromReader>;

/** Far more than a process takes to start. */
const START_MS = 20_000;

/**
 * Extracts the text of documents one after another, each in a process of its own with limits of time and
 * memory, which may read only its own code. A malicious document ends only that process. A thread is not
 * enough: when its heap is full, V8 ends the whole process, with all other extractions.
 * @param timeoutMs for reading, once the process has started
 * @param memoryMiB heap of a process
 */
export function extractor({ timeoutMs = 10_000, memoryMiB = 192 } = {}): Extractor {
  let previous: Promise<unknown> = Promise.resolve();
  return (kind, content) => {
    const extraction = previous.then(async () =>
      extractIn(await startReader(memoryMiB), { kind, ...content }, timeoutMs),
    );
    previous = extraction.catch(() => undefined);
    return extraction;
  };
}

/** A function's bundle has the reader as one file; elsewhere the TypeScript source runs. */
const IS_BUNDLED = !import.meta.url.endsWith('.ts');
const READER = new URL(IS_BUNDLED ? './reader.mjs' : './read.ts', import.meta.url);
const READABLE = IS_BUNDLED ? fileURLToPath(new URL('.', READER)) : '*';

async function startReader(memoryMiB: number): Promise<ChildProcess> {
  // Loaded on demand: most checks find no change and read nothing.
  const { fork } = await import('node:child_process');
  return fork(READER, {
    execArgv: [`--max-old-space-size=${memoryMiB}`, '--permission', `--allow-fs-read=${READABLE}`],
    // Excludes the function's credentials.
    env: libraryPath(),
    // Libraries may print parts of the document.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
  });
}

const TOO_LONG = { ok: false, problem: 'the content takes too long to read' } as const;
const TOO_MUCH = { ok: false, problem: 'the content takes too much memory to read' } as const;
const UNREADABLE = { ok: false, problem: 'the content could not be read' } as const;

async function extractIn(reader: ChildProcess, job: ToReader, timeoutMs: number): Promise<Extraction> {
  const { promise, resolve, reject } = Promise.withResolvers<Extraction>();
  let isReady = false;
  let timer = setTimeout(() => reject(new Defect('the reader did not start in time')), START_MS);

  reader.on('message', (received) => {
    const message = FromReader.safeParse(received);
    if (!message.success) return resolve(UNREADABLE);
    if (message.data.kind === 'extracted') return resolve(message.data.extraction);
    isReady = true;
    clearTimeout(timer);
    timer = setTimeout(() => resolve(TOO_LONG), timeoutMs);
  });
  reader.on('error', reject);
  reader.on('exit', (code, signal) => {
    if (!isReady) reject(new Defect(`the reader did not start (${signal ?? code})`));
    // V8 aborts when the heap is full; the system kills when memory is short.
    resolve(signal === 'SIGABRT' || signal === 'SIGKILL' ? TOO_MUCH : UNREADABLE);
  });
  // Ignore a failed send: the reader's exit reports it.
  reader.send(job, () => undefined);

  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    reader.kill('SIGKILL');
  }
}

const WORDS = 60;

/**
 * Simulates a check of a sandbox's source by the program in its URL, without a request or a wait. Each check
 * takes the next step, and the last one stays. 200 returns a text unique to the step, 304 is unchanged,
 * anything else fails.
 * @param check number of this check, from 1
 */
export function simulateContent(url: string, check: number): CheckFinding {
  const program = parseProgram(url);
  const answer = simulate(program, check, FETCH_TIMEOUT_SECONDS * 1000);
  if ('error' in answer) return { kind: 'failed', error: answer.error };
  if (answer.status === 304) return { kind: 'not-modified' };
  if (answer.status !== 200) return { kind: 'failed', error: `the server answered ${answer.status}` };
  const step = Math.min(check, program.steps.length);
  return { kind: 'fetched', title: `Simulated content ${step}`, text: generateText(url, step) };
}

/** Words that are those of one step of one URL, always the same. */
const generateText = (url: string, step: number): string =>
  Array.from({ length: WORDS }, (_, index) =>
    createHash('sha256')
      .update(`${url}/${step}/${index}`)
      .digest('hex')
      .slice(0, 12)
      .replaceAll(/\d/g, toLetter),
  ).join(' ');

const toLetter = (digit: string): string => 'ghijklmnop'.charAt(Number(digit));
