import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { PermissionRequest } from '../permissions/requests.ts';
import { encodeFrame, type Frame, FrameDecoder, type ReplyHeader } from './frames.ts';
import { PRELOAD } from './preload-file.ts';

const RUNTIME_CLIENT = fileURLToPath(import.meta.resolve('aws-lambda-ric'));

/** Lambda's limit on the init phase, outside the function's timeout. */
const INIT_TIMEOUT_SECONDS = 10;
/** Lambda's limit on a synchronous response. */
const RESPONSE_LIMIT_BYTES = 6_291_556;

/**
 * Result of an invocation; `functionError` as in the header `X-Amz-Function-Error`, with the error as
 * payload.
 */
export interface InvocationResult {
  payload: unknown;
  functionError?: 'Unhandled';
}

export interface Invocation {
  requestId: string;
  /** JSON text. */
  event: string;
  functionArn: string;
  traceId: string;
}

export interface SandboxOptions {
  /** Root of the unpacked function code. */
  directory: string;
  handler: string;
  environment: Record<string, string>;
  memoryMiB: number;
  nodeBinary: string;
  /** File that is loaded before the function; its sources when absent. */
  preload?: string;
  /** Receives a line of the process's output, without its line end. */
  onLine: (line: string) => void;
  /** Called once per action on a resource, with whether the role allows it. */
  onPermission?: (asked: PermissionRequest, isAllowed: boolean) => void;
}

interface Pending {
  requestId: string;
  resolve: (result: InvocationResult) => void;
  timer: NodeJS.Timeout;
}

/** A process with AWS's Node.js runtime client and a function, which serves one invocation at a time. */
export class Sandbox {
  /** Resolves when the handler is loaded: to undefined, or to the reason why it could not be. */
  readonly ready: Promise<InvocationResult | undefined>;
  /** Resolves when the process has ended. */
  readonly exited: Promise<void>;
  readonly #process: ChildProcess;
  readonly #channel: Socket;
  readonly #onPermission: NonNullable<SandboxOptions['onPermission']>;
  #initDone: (failure?: InvocationResult) => void = () => undefined;
  #pending: Pending | undefined;
  #alive = true;

  constructor(options: SandboxOptions) {
    this.#onPermission = options.onPermission ?? (() => undefined);
    this.#process = spawn(options.nodeBinary, processArguments(options), {
      cwd: options.directory,
      env: options.environment,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    const channel = this.#process.stdio[3];
    if (!(channel instanceof Socket)) throw new TypeError('The channel of a sandbox is a socket');
    this.#channel = channel;
    this.#channel.on('error', () => this.kill());
    forEachLine(this.#process.stdout, options.onLine);
    forEachLine(this.#process.stderr, options.onLine);

    const initTimer = setTimeout(() => {
      this.#initDone(
        failure('Sandbox.Timedout', `Init phase timed out after ${INIT_TIMEOUT_SECONDS} seconds`),
      );
      this.kill();
    }, INIT_TIMEOUT_SECONDS * 1000);
    this.ready = new Promise((resolve) => {
      this.#initDone = (reason) => {
        clearTimeout(initTimer);
        resolve(reason);
      };
    });
    this.exited = new Promise((resolve) => {
      this.#process.once('error', (error) => this.#ended(`Error: ${error.message}`, resolve));
      this.#process.once('exit', (code, signal) => this.#ended(exitReason(code, signal), resolve));
    });
    const decoder = new FrameDecoder<ReplyHeader>();
    this.#channel.on('data', (chunk) => {
      for (const frame of decoder.push(chunk)) this.#receive(frame);
    });
  }

  /** Whether it accepts another invocation. */
  get alive(): boolean {
    return this.#alive;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Runs the handler; after `timeoutSeconds` it kills the process and returns a timeout. Never rejects. */
  invoke(invocation: Invocation, timeoutSeconds: number): Promise<InvocationResult> {
    const { requestId, event, functionArn, traceId } = invocation;
    if (!this.#alive)
      return Promise.resolve(failure('Runtime.ExitError', `RequestId: ${requestId} Error: Runtime exited`));
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        const seconds = timeoutSeconds.toFixed(2);
        this.#settle(
          failure(
            'Sandbox.Timedout',
            `RequestId: ${requestId} Error: Task timed out after ${seconds} seconds`,
          ),
        );
        this.kill();
      }, timeoutSeconds * 1000);
      this.#pending = { requestId, resolve, timer };
      const deadline = Date.now() + timeoutSeconds * 1000;
      this.#channel.write(encodeFrame({ type: 'invoke', requestId, deadline, functionArn, traceId }, event));
    });
  }

  kill(): void {
    this.#alive = false;
    this.#process.kill('SIGKILL');
  }

  #receive({ header, body }: Frame<ReplyHeader>): void {
    if (header.type === 'ready') this.#initDone();
    else if (header.type === 'permission') this.#onPermission(header.asked, header.isAllowed);
    else if (header.type === 'initError') {
      this.#alive = false;
      this.#initDone({ payload: JSON.parse(body), functionError: 'Unhandled' });
    } else if (header.requestId === this.#pending?.requestId) {
      if (header.type === 'error') this.#settle({ payload: JSON.parse(body), functionError: 'Unhandled' });
      else this.#settle(parseResponse(body));
    }
  }

  #settle(result: InvocationResult): void {
    const pending = this.#pending;
    this.#pending = undefined;
    if (!pending) return;
    clearTimeout(pending.timer);
    pending.resolve(result);
  }

  #ended(reason: string, resolve: () => void): void {
    this.#alive = false;
    this.#channel.destroy();
    this.#initDone(failure('Runtime.ExitError', reason));
    this.#settle(failure('Runtime.ExitError', `RequestId: ${this.#pending?.requestId} ${reason}`));
    resolve();
  }
}

function processArguments({ memoryMiB, handler, preload = PRELOAD }: SandboxOptions): string[] {
  return [
    // Lambda leaves a tenth of the memory to everything but the heap.
    `--max-old-space-size=${Math.floor(memoryMiB * 0.9)}`,
    // Dozens of these share one machine, so garbage is collected early: 7 MiB less in each than with 8, for
    // no measurable processor time. `--optimize-for-size` takes a quarter more of it.
    '--max-semi-space-size=2',
    '--require',
    preload,
    RUNTIME_CLIENT,
    handler,
  ];
}

function parseResponse(body: string): InvocationResult {
  const bytes = Buffer.byteLength(body);
  if (bytes <= RESPONSE_LIMIT_BYTES) return { payload: JSON.parse(body) };
  return failure(
    'Function.ResponseSizeTooLarge',
    `Response payload size (${bytes} bytes) exceeded maximum allowed payload size (${RESPONSE_LIMIT_BYTES} bytes).`,
  );
}

function failure(errorType: string, errorMessage: string): InvocationResult {
  return { payload: { errorType, errorMessage }, functionError: 'Unhandled' };
}

/** As Lambda calls them: V8 aborts when its heap is full, and the system kills when memory is short. */
const SIGNALS: Partial<Record<NodeJS.Signals, string>> = {
  SIGABRT: 'aborted',
  SIGKILL: 'killed',
  SIGSEGV: 'segmentation fault',
};

function exitReason(code: number | null, signal: NodeJS.Signals | null): string {
  return signal
    ? `Error: Runtime exited with error: signal: ${SIGNALS[signal] ?? signal}`
    : `Error: Runtime exited with error: exit status ${code}`;
}

function forEachLine(output: Readable | null, onLine: (line: string) => void): void {
  let rest = '';
  output?.setEncoding('utf8');
  output?.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
  output?.on('end', () => {
    if (rest) onLine(rest);
  });
}
