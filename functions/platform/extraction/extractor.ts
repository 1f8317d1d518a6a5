import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Defect } from '../../domain/defect.ts';
import type { SourceKind } from '../../domain/source.ts';
import { libraryPath } from '../config.ts';
import { FromReader, type ToReader } from './messages.ts';
import { turns } from './turns.ts';

/** What was fetched. */
export interface Content {
  body: Uint8Array;
  /** The field of the response. */
  contentType?: string;
  /** Where it came from at last. */
  url: string;
}

export type Extraction =
  | { ok: true; text: string; title?: string }
  | {
      ok: false;
      /** One line in English that says what is wrong with the content. */
      problem: string;
    };

/**
 * Never rejects for what the content is.
 * @throws Error when the process that reads does not start, which is a defect of the deployment
 */
export type Extractor = (kind: SourceKind, content: Content) => Promise<Extraction>;

export interface ExtractorOptions {
  /** From the moment that the content can be read to its text. */
  timeoutMs?: number;
  /** The heap of one extraction. */
  memoryMiB?: number;
}

/** For a process to start and load its code: far more than it takes. */
const START_MS = 20_000;

/**
 * So many processes have room in the memory of a function; others wait. One that reads much has it for
 * itself.
 */
const ROOM = 2;
const LARGE_BYTES = 1024 * 1024;

/** A workbook is packed: how large it is shows when it is read. */
const isLarge = (kind: SourceKind, { body }: Content): boolean =>
  kind === 'spreadsheet' || body.length > LARGE_BYTES;

/**
 * Gets the text out of what a source's URL gave, each time in a process of its own, with limits of time and memory, that may read nothing but its code. What
 * is made to exhaust or break a parser ends that process alone. A thread would not do: where its heap is full in the middle of one large step, V8 ends the whole
 * process, and with it everybody else's work.
 *
 * @example
 * const extract = extractor();
 * const extraction = await extract('url', { body, contentType: 'text/html', url });
 */
export function extractor({ timeoutMs = 10_000, memoryMiB = 192 }: ExtractorOptions = {}): Extractor {
  const take = turns(ROOM);
  return async (kind, content) => {
    using _turn = await take(isLarge(kind, content) ? ROOM : 1);
    return extractIn(await startReader(memoryMiB), { kind, ...content }, timeoutMs);
  };
}

/** Beside the code: TypeScript where that is run as it is, one file in a function's bundle. */
const IS_BUNDLED = !import.meta.url.endsWith('.ts');
const READER = new URL(IS_BUNDLED ? './reader.mjs' : './reader.ts', import.meta.url);
const READABLE = IS_BUNDLED ? fileURLToPath(new URL('.', READER)) : '*';

async function startReader(memoryMiB: number): Promise<ChildProcess> {
  // Loaded when there is something to read: most checks find that nothing has changed.
  const { fork } = await import('node:child_process');
  return fork(READER, {
    execArgv: [`--max-old-space-size=${memoryMiB}`, '--permission', `--allow-fs-read=${READABLE}`],
    // Above all without the credentials of the function.
    env: libraryPath(),
    // What libraries print is nobody's business.
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
    // V8 aborts when the heap is full, and the system kills where memory is short.
    resolve(signal === 'SIGABRT' || signal === 'SIGKILL' ? TOO_MUCH : UNREADABLE);
  });
  // A reader that is gone before it was told what to do has said so by its exit.
  reader.send(job, () => undefined);

  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    reader.kill('SIGKILL');
  }
}
