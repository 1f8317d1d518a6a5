import { randomBytes, randomUUID } from 'node:crypto';
import { ACCOUNT, functionArn, REGION } from '../arns.ts';
import type { Statement } from '../permissions.ts';
import { type Pool, SandboxCapacity } from './capacity.ts';
import { AUTHORIZATION_VARIABLE, type SandboxAuthorization } from './environment.ts';
import { type InvocationResult, Sandbox } from './sandbox.ts';

export type { InvocationResult } from './sandbox.ts';

export interface LocalFunctionOptions {
  name: string;
  /** Root of the unpacked function code. */
  directory: string;
  /** As in the template: `file.export`. */
  handler: string;
  timeoutSeconds: number;
  memoryMiB: number;
  /** The template's variables and whatever else the place gives the function, such as endpoints and credentials. */
  environment: Record<string, string>;
  /** Sandboxes that may run side by side; further invocations wait in order. */
  maxSandboxes: number;
  /** What the function's role allows. */
  statements: readonly Statement[];
  /** Endpoints of the engines, whose calls are checked against the statements. */
  endpoints?: readonly string[];
  /** Shared by the functions of a run, to bound their sandboxes together. */
  capacity?: SandboxCapacity;
  /** Directory for compiled code, which makes later cold starts several times faster. */
  compileCache?: string;
  nodeBinary?: string;
  onLog?: (line: string) => void;
}

/** More at a time would only slow one another down; what waits is served by whichever sandbox is free first. */
const STARTS_AT_A_TIME = 2;

interface Waiting {
  event: string;
  resolve: (result: InvocationResult) => void;
}

interface Idle {
  sandbox: Sandbox;
  since: number;
}

/** A Lambda function on this machine: sandboxes started as invocations need them, and kept for the next ones. */
export class LocalFunction implements Pool {
  readonly name: string;
  readonly arn: string;
  readonly #options: LocalFunctionOptions;
  readonly #capacity: SandboxCapacity;
  readonly #environment: Record<string, string>;
  readonly #waiting: Waiting[] = [];
  /** Those that hold a place of the capacity. */
  readonly #sandboxes = new Set<Sandbox>();
  /** Those whose process has not ended yet. */
  readonly #processes = new Set<Sandbox>();
  /** The one used last at the end. */
  readonly #idle: Idle[] = [];
  #starting = 0;
  #stopped = false;

  constructor(options: LocalFunctionOptions) {
    this.name = options.name;
    this.arn = functionArn(options.name);
    this.#options = options;
    this.#capacity = options.capacity ?? new SandboxCapacity(options.maxSandboxes);
    this.#environment = sandboxEnvironment(options);
  }

  /** Invokes the function; an error of the function is in the result, with `functionError`. Never rejects. */
  invoke(payload: unknown): Promise<InvocationResult> {
    return this.invokeSerialized(JSON.stringify(payload ?? null));
  }

  /** Like {@link invoke}, with an event that is JSON text already. */
  invokeSerialized(event: string): Promise<InvocationResult> {
    if (this.#stopped) return Promise.resolve(stoppedResult());
    return new Promise((resolve) => {
      this.#waiting.push({ event, resolve });
      this.#schedule();
    });
  }

  /** Invocations worth handing over at once: one for each sandbox, and one that makes the function grow if it can. */
  get concurrency(): number {
    return Math.min(this.size + 1, this.#options.maxSandboxes);
  }

  /** Process ids of the sandboxes that run. */
  processIds(): number[] {
    return [...this.#processes].flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  }

  /** Ends every sandbox, and with it whatever runs or waits; settles when the processes are gone. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const { resolve } of this.#waiting.splice(0)) resolve(stoppedResult());
    for (const sandbox of this.#processes) sandbox.kill();
    await Promise.all([...this.#processes].map((sandbox) => sandbox.exited));
  }

  get size(): number {
    return this.#sandboxes.size;
  }

  get idleSince(): number | undefined {
    return this.#idle[0]?.since;
  }

  evictIdle(): void {
    const longest = this.#idle.shift();
    if (longest) this.#retire(longest.sandbox);
  }

  resume(): void {
    this.#schedule();
  }

  #schedule(): void {
    while (this.#waiting.length > 0) {
      const idle = this.#idle.pop();
      if (!idle) break;
      if (idle.sandbox.alive) void this.#serve(idle.sandbox);
    }
    while (this.#starting < Math.min(this.#waiting.length, STARTS_AT_A_TIME) && this.#mayGrow())
      void this.#start();
  }

  #mayGrow(): boolean {
    return !this.#stopped && this.size < this.#options.maxSandboxes && this.#capacity.acquire(this);
  }

  async #start(): Promise<void> {
    const {
      directory,
      handler,
      memoryMiB,
      nodeBinary = process.execPath,
      onLog = () => undefined,
    } = this.#options;
    const environment = this.#environment;
    const sandbox = new Sandbox({ directory, handler, environment, memoryMiB, nodeBinary, onLine: onLog });
    this.#starting += 1;
    this.#sandboxes.add(sandbox);
    this.#processes.add(sandbox);
    void sandbox.exited.then(() => {
      this.#processes.delete(sandbox);
      this.#retire(sandbox);
    });
    const failure = await sandbox.ready;
    this.#starting -= 1;
    // Others may still wait for a start of their own.
    queueMicrotask(() => this.#schedule());
    if (!failure) return this.#serve(sandbox);
    this.#waiting.shift()?.resolve(failure);
    this.#retire(sandbox);
  }

  /** Lets the sandbox work through what waits, then keeps it for later or gives its place away. */
  async #serve(sandbox: Sandbox): Promise<void> {
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      const invocation = {
        requestId: randomUUID(),
        event: next.event,
        functionArn: this.arn,
        traceId: traceId(),
      };
      next.resolve(await sandbox.invoke(invocation, this.#options.timeoutSeconds));
      if (!sandbox.alive || this.#capacity.contended) break;
    }
    if (!sandbox.alive || this.#capacity.contended) this.#retire(sandbox);
    else this.#idle.push({ sandbox, since: Date.now() });
  }

  /** Ends the sandbox and gives its place back, once. */
  #retire(sandbox: Sandbox): void {
    if (!this.#sandboxes.delete(sandbox)) return;
    const index = this.#idle.findIndex((idle) => idle.sandbox === sandbox);
    if (index >= 0) this.#idle.splice(index, 1);
    sandbox.kill();
    this.#capacity.release();
    this.#schedule();
  }
}

function stoppedResult(): InvocationResult {
  return {
    payload: { errorType: 'Runtime.ExitError', errorMessage: 'The local run has stopped' },
    functionError: 'Unhandled',
  };
}

/** What the Lambda service sets in every sandbox, around the function's own variables. */
function sandboxEnvironment(options: LocalFunctionOptions): Record<string, string> {
  const { name, directory, handler, memoryMiB, environment, compileCache } = options;
  return {
    PATH: process.env.PATH ?? '',
    LANG: 'en_US.UTF-8',
    TZ: ':UTC',
    ...(compileCache === undefined ? {} : { NODE_COMPILE_CACHE: compileCache }),
    ...environment,
    AWS_REGION: REGION,
    AWS_DEFAULT_REGION: REGION,
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMiB),
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: 'local',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    // The runtime client insists on an address; what it would send there goes over the channel.
    AWS_LAMBDA_RUNTIME_API: '127.0.0.1:1',
    LAMBDA_TASK_ROOT: directory,
    LAMBDA_RUNTIME_DIR: directory,
    _HANDLER: handler,
    [AUTHORIZATION_VARIABLE]: JSON.stringify(authorizationOf(options)),
  };
}

function authorizationOf({ name, statements, endpoints = [] }: LocalFunctionOptions): SandboxAuthorization {
  return {
    principal: `arn:aws:sts::${ACCOUNT}:assumed-role/${name}/${name}`,
    statements,
    hosts: endpoints.map((endpoint) => new URL(endpoint).host),
  };
}

function traceId(): string {
  const seconds = Math.floor(Date.now() / 1000).toString(16);
  return `Root=1-${seconds}-${randomBytes(12).toString('hex')};Parent=${randomBytes(8).toString('hex')};Sampled=0`;
}
