import { randomUUID } from 'node:crypto';
import { functionArn } from '../arns.ts';
import type { Statement } from '../permissions/statements.ts';
import { randomText } from '../random-text.ts';
import { type Pool, SandboxCapacity } from './capacity.ts';
import { sandboxEnvironment } from './environment.ts';
import { type Lane, LaneQueue } from './lanes.ts';
import { addInvocation, formatLineage, type Lineage } from './lineage.ts';
import type { LocalFunctionOptions } from './options.ts';
import { type InvocationResult, Sandbox } from './sandbox.ts';

export type { InvocationResult } from './sandbox.ts';

interface InvocationTerms {
  /** Lineage of the event's messages. */
  lineage?: Lineage;
  limitBytes?: number;
}

/** Lambda's limit on the event of a synchronous invocation. */
export const EVENT_BYTES = 6 * 1024 * 1024;
/** Limit for an asynchronous one: 1 MB since October 2025; some AWS pages still give this one. */
export const ASYNC_EVENT_BYTES = 262_144;

/**
 * Limits of the wait for an existing sandbox after which another is started. Between them it is the start-up
 * time of the function's last one, which on a busy machine is many times longer: a shorter wait is no reason
 * for another process.
 */
const GROWTH_PATIENCE_MS = { least: 100, most: 1000 };

interface Waiting {
  event: string;
  lineage: Lineage;
  since: number;
  /** Whether invocations of other event sources were running. */
  isBehindOthers: boolean;
  resolve: (result: InvocationResult) => void;
}

/** A function for one event source, whose invocations do not wait for those of other event sources. */
export interface FunctionLane {
  /**
   * As {@link LocalFunction.invoke}.
   * @param lineage of the messages in the payload
   */
  invoke(payload: unknown, lineage?: Lineage): Promise<InvocationResult>;
  /**
   * Invocations to pass at once: one per sandbox left for the lane, and one that makes the function grow if
   * it can.
   */
  readonly concurrency: number;
}

interface Idle {
  sandbox: Sandbox;
  since: number;
}

/** A Lambda function on this machine: starts sandboxes on demand and keeps them. */
export class LocalFunction implements Pool {
  readonly name: string;
  readonly arn: string;
  readonly #options: LocalFunctionOptions;
  readonly #capacity: SandboxCapacity;
  readonly #environment: Record<string, string>;
  readonly #queue = new LaneQueue<Waiting>();
  /** Lane of invocations without an event source. */
  readonly #direct: Lane = { share: Number.POSITIVE_INFINITY };
  /** Sandboxes that hold a place of the capacity. */
  readonly #sandboxes = new Set<Sandbox>();
  /** Sandboxes whose process has not ended. */
  readonly #processes = new Set<Sandbox>();
  /** Most recently used last. */
  readonly #idle: Idle[] = [];
  #starting = false;
  #lastStartedAt = 0;
  #growthPatienceMs = GROWTH_PATIENCE_MS.least;
  /** Milliseconds that invocations have waited behind those of other event sources since the last start. */
  #waitedForOthersMs = 0;
  #growthCheck: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: LocalFunctionOptions) {
    this.name = options.name;
    this.arn = functionArn(options.name);
    this.#options = options;
    this.#capacity = options.capacity ?? new SandboxCapacity(options.maxSandboxes);
    this.#environment = sandboxEnvironment(options);
  }

  /** Never rejects: an error of the function is in the result, with `functionError`. */
  invoke(payload: unknown): Promise<InvocationResult> {
    return this.invokeSerialized(JSON.stringify(payload ?? null));
  }

  /** As {@link invoke}, with Lambda's lower limit for asynchronous events, such as those of a schedule. */
  invokeAsync(payload: unknown): Promise<InvocationResult> {
    const event = JSON.stringify(payload ?? null);
    const limitBytes = this.#options.asyncEventBytes ?? ASYNC_EVENT_BYTES;
    return this.#invoke(event, this.#direct, { limitBytes });
  }

  /** As {@link invoke}, with an event that is JSON text. */
  invokeSerialized(event: string): Promise<InvocationResult> {
    return this.#invoke(event, this.#direct);
  }

  /** A lane for an event source, with up to `share` concurrent invocations. */
  lane(share: number): FunctionLane {
    const lane = { share };
    const left = () =>
      Math.min(this.size + 1, this.#options.maxSandboxes) - this.#queue.underWayOfOthers(lane);
    return {
      invoke: (payload, lineage) =>
        this.#invoke(JSON.stringify(payload ?? null), lane, lineage && { lineage }),
      get concurrency() {
        // At least 1: items that wait in this lane get a turn, items outside do not.
        return Math.max(1, Math.min(share, left()));
      },
    };
  }

  #invoke(
    event: string,
    lane: Lane,
    { lineage = new Map(), limitBytes = this.#options.eventBytes ?? EVENT_BYTES }: InvocationTerms = {},
  ): Promise<InvocationResult> {
    const bytes = Buffer.byteLength(event);
    if (bytes > limitBytes) return Promise.resolve(tooLargeResult(bytes, limitBytes));
    if (this.#stopped) return Promise.resolve(stoppedResult());
    return new Promise((resolve) => {
      const isBehindOthers = this.#queue.underWayOfOthers(lane) > 0;
      this.#queue.add(lane, { event, lineage, since: Date.now(), isBehindOthers, resolve });
      this.#schedule();
    });
  }

  processIds(): number[] {
    return [...this.#processes].flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  }

  /** Ends every sandbox and its work; resolves when the processes are gone. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#growthCheck);
    for (const { resolve } of this.#queue.clear()) resolve(stoppedResult());
    for (const sandbox of this.#processes) sandbox.kill();
    await Promise.all([...this.#processes].map((sandbox) => sandbox.exited));
  }

  get statements(): readonly Statement[] {
    return this.#options.statements;
  }

  get allowsLoops(): boolean {
    return this.#options.allowsLoops ?? false;
  }

  get size(): number {
    return this.#sandboxes.size;
  }

  get idleSince(): number | undefined {
    return this.#idle[0]?.since;
  }

  get isStarving(): boolean {
    return this.#queue.next !== undefined && (this.size === 0 || this.#queue.isNextFirstOfItsLane);
  }

  evictIdle(): void {
    const longest = this.#idle.shift();
    if (longest) this.#retire(longest.sandbox);
  }

  resume(): void {
    this.#schedule();
  }

  #schedule(): void {
    while (this.#queue.next) {
      const idle = this.#idle.pop();
      if (!idle) break;
      if (idle.sandbox.alive) void this.#serve(idle.sandbox);
    }
    const { next } = this.#queue;
    if (next && !this.#starting && this.size < this.#options.maxSandboxes) this.#growFor(next);
  }

  /**
   * Starts sandboxes one at a time: at once if it is the first, else when the next invocation waits too long.
   * Short waits for invocations of other event sources add up: in Lambda there are none.
   */
  #growFor(next: Waiting): void {
    const patience = this.#growthPatienceMs;
    const waited = this.#waitOf(next) + this.#waitedForOthersMs;
    if (this.size > 0 && waited < patience) this.#lookAgainIn(patience - waited);
    else if (this.#capacity.acquire(this)) void this.#start();
    else if (this.size > 0) this.#lookAgainIn(patience);
  }

  /** Milliseconds, without the start of a sandbox. */
  #waitOf = ({ since }: Waiting): number => Date.now() - Math.max(since, this.#lastStartedAt);

  #lookAgainIn(milliseconds: number): void {
    this.#growthCheck ??= setTimeout(() => {
      this.#growthCheck = undefined;
      this.#schedule();
    }, milliseconds);
  }

  async #start(): Promise<void> {
    const { nodeBinary = process.execPath, onLog: onLine = () => undefined, ...options } = this.#options;
    const sandbox = new Sandbox({ ...options, environment: this.#environment, nodeBinary, onLine });
    const since = Date.now();
    this.#starting = true;
    this.#waitedForOthersMs = 0;
    this.#sandboxes.add(sandbox);
    this.#processes.add(sandbox);
    void sandbox.exited.then(() => {
      this.#processes.delete(sandbox);
      this.#retire(sandbox);
    });
    const failure = await sandbox.ready;
    this.#starting = false;
    this.#lastStartedAt = Date.now();
    const { least, most } = GROWTH_PATIENCE_MS;
    this.#growthPatienceMs = Math.min(Math.max(this.#lastStartedAt - since, least), most);
    if (failure) {
      const next = this.#queue.take();
      if (next) this.#queue.end(next.lane);
      next?.item.resolve(failure);
      this.#retire(sandbox);
    } else void this.#serve(sandbox);
    this.#schedule();
  }

  /** Processes waiting items, then keeps the sandbox or gives its place away. */
  async #serve(sandbox: Sandbox): Promise<void> {
    for (let next = this.#queue.take(); next; next = this.#queue.take()) {
      const { lane, item } = next;
      if (item.isBehindOthers) this.#waitedForOthersMs += this.#waitOf(item);
      const invocation = {
        requestId: randomUUID(),
        event: item.event,
        functionArn: this.arn,
        traceId: traceId(addInvocation(item.lineage, this.name)),
      };
      const result = await sandbox.invoke(invocation, this.#options.timeoutSeconds);
      this.#queue.end(lane);
      // What the end of the run interrupts is no failure of the function.
      item.resolve(this.#stopped && result.functionError ? stoppedResult() : result);
      if (!sandbox.alive || this.#capacity.yields(this)) break;
    }
    if (!sandbox.alive || this.#capacity.yields(this)) this.#retire(sandbox);
    else this.#idle.push({ sandbox, since: Date.now() });
  }

  /** Ends the sandbox and releases its place, once. */
  #retire(sandbox: Sandbox): void {
    if (!this.#sandboxes.delete(sandbox)) return;
    const index = this.#idle.findIndex((idle) => idle.sandbox === sandbox);
    if (index >= 0) this.#idle.splice(index, 1);
    sandbox.kill();
    this.#capacity.release();
    this.#schedule();
  }
}

/** Lambda's message; Lambda answers with status 413 and does not invoke the function. */
function tooLargeResult(bytes: number, limitBytes: number): InvocationResult {
  const errorMessage = `${bytes} byte payload is too large for an invocation (limit ${limitBytes} bytes)`;
  return { payload: { errorType: 'RequestTooLargeException', errorMessage }, functionError: 'Unhandled' };
}

function stoppedResult(): InvocationResult {
  return {
    payload: { errorType: 'Runtime.ExitError', errorMessage: 'The local run has stopped' },
    functionError: 'Unhandled',
  };
}

function traceId(lineage: Lineage): string {
  const seconds = Math.floor(Date.now() / 1000).toString(16);
  return `Root=1-${seconds}-${randomText(12, 'hex')};Parent=${randomText(8, 'hex')};Sampled=0${formatLineage(lineage)}`;
}
