import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import * as z from 'zod/mini';
import type { SourceKind } from '../domain/bus.ts';
import { Defect } from '../domain/problem.ts';
import { libraryPath } from '../platform/config.ts';

/** Fetched content. */
export interface Content {
  body: Uint8Array;
  /** `Content-Type` of the response. */
  contentType?: string;
  /** URL after redirects. */
  url: string;
}

export type Extraction =
  | { ok: true; text: string; title?: string }
  | {
      ok: false;
      /** One line of English that describes the problem. */
      problem: string;
    };

/**
 * Returns problems of the content as a value.
 * @throws Error when the reader process does not start, which is a defect of the deployment
 */
export type Extractor = (kind: SourceKind, content: Content) => Promise<Extraction>;

export interface ExtractorOptions {
  /** Milliseconds for reading, once the process has started. */
  timeoutMs?: number;
  /** Heap of one reader process, in MiB. */
  memoryMiB?: number;
}

/** Message to the reader process. */
export interface ToReader {
  kind: SourceKind;
  body: Uint8Array;
  contentType?: string;
  url: string;
}

/** Messages from the reader process: it has started, and its result. */
export const FromReader = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('begun') }),
  z.object({
    kind: z.literal('extracted'),
    extraction: z.discriminatedUnion('ok', [
      z.object({ ok: z.literal(true), text: z.string(), title: z.optional(z.string()) }),
      z.object({ ok: z.literal(false), problem: z.string() }),
    ]),
  }),
]);
export type FromReader = z.infer<typeof FromReader>;

/** Far more than a process takes to start. */
const START_MS = 20_000;

/**
 * Concurrent reader processes that fit into the function's memory. A large document counts as all of them.
 */
const ROOM = 2;
const LARGE_BYTES = 1024 * 1024;

/** Workbooks are compressed, so their size is unknown before they are read. */
const isLarge = (kind: SourceKind, { body }: Content): boolean =>
  kind === 'spreadsheet' || body.length > LARGE_BYTES;

/**
 * Extracts the text of a fetched document in a separate process with limits of time and memory, which may
 * read only its own code. A malicious document ends only that process. A thread is not enough: when its heap
 * is full, V8 ends the whole process, with all other extractions.
 * @example const extract = extractor(); const extraction = await extract('url', { body, contentType:
 * 'text/html', url });
 */
export function extractor({ timeoutMs = 10_000, memoryMiB = 192 }: ExtractorOptions = {}): Extractor {
  const acquire = createTurns(ROOM);
  return async (kind, content) => {
    using _turn = await acquire(isLarge(kind, content) ? ROOM : 1);
    return extractIn(await startReader(memoryMiB), { kind, ...content }, timeoutMs);
  };
}

/** A first-in, first-out semaphore with weighted turns. Disposing a turn frees its room. */
export function createTurns(room: number): (size: number) => Promise<Disposable> {
  const waiting: { size: number; begin: () => void }[] = [];
  let free = room;
  const admit = () => {
    for (let [next] = waiting; next !== undefined && next.size <= free; [next] = waiting) {
      waiting.shift();
      free -= next.size;
      next.begin();
    }
  };
  return async (size) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push({ size, begin: resolve });
    admit();
    await promise;
    return {
      [Symbol.dispose]: () => {
        free += size;
        admit();
      },
    };
  };
}

/** A function's bundle has the reader as one file; elsewhere the TypeScript source runs. */
const IS_BUNDLED = !import.meta.url.endsWith('.ts');
const READER = new URL(IS_BUNDLED ? './reader.mjs' : './reader.ts', import.meta.url);
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
