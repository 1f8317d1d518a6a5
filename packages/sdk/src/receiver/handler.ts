import type { ReceivedEvent } from './events.ts';
import type { IncomingRequest, LambdaRequest, NodeRequest } from './request.ts';
import { VerificationError } from './verification-error.ts';
import { type Secrets, type VerifyOptions, verify } from './verify.ts';

/**
 * Remembers which consumer has processed which event, so that it processes each once. Entries must live
 * longer than deliveries: 30 days, as long as events can be resent.
 */
export interface DuplicateStore {
  /**
   * Begins to process an event.
   * @param key the name of the consumer, `/`, and the event's `webhook-id`
   * @returns `done` if it was processed, `running` if another request is processing it. An entry that began
   * long ago and never ended, because its process was lost, is `new`.
   */
  begin(key: string): Promise<'new' | 'running' | 'done'>;
  /** @param isDone false when it failed, and is to be processed by the next attempt */
  end(key: string, isDone: boolean): Promise<void>;
}

/** What tells repeated events. Without it, an event that is delivered twice is processed twice. */
interface Deduplication {
  store: DuplicateStore;
  /**
   * A name for what this handler does with events, for example `crm`. An event comes to each endpoint under
   * one id: handlers with another name process it as well, those with the same name do not.
   */
  consumer: string;
}

export type HandlerOptions = Omit<VerifyOptions, 'now'> & {
  secrets: Secrets;
  /**
   * Called with what `onEvent` threw, and with requests that were refused. Writes it to the console without
   * it.
   */
  onError?: ((error: unknown) => void) | undefined;
} & (Deduplication | { [Name in keyof Deduplication]?: undefined });

export type OnEvent = (event: ReceivedEvent) => Promise<void> | void;

/** Statuses of responses: any 2xx ends the delivery, any other one has it retried. */
type Status = 204 | 400 | 413 | 500 | 503;

/** Verifies a request and processes its event, once if there is a store. */
export async function handle(
  request: IncomingRequest,
  { secrets, store, consumer, onError = report, ...options }: HandlerOptions,
  onEvent: OnEvent,
): Promise<Status> {
  if (store !== undefined && !consumer) throw new TypeError('A handler with a store needs a consumer.');
  let event: ReceivedEvent;
  try {
    event = await verify(request, secrets, options);
  } catch (error) {
    onError(error);
    if (!(error instanceof VerificationError)) return 500;
    return error.problem === 'body_too_large' ? 413 : 400;
  }
  try {
    const key = `${consumer}/${event.id}`;
    const state = (await store?.begin(key)) ?? 'new';
    if (state === 'done') return 204;
    // The other request may fail: the next attempt finds out.
    if (state === 'running') return 503;
    let isDone = false;
    try {
      await onEvent(event);
      isDone = true;
    } finally {
      await store?.end(key, isDone);
    }
    return 204;
  } catch (error) {
    onError(error);
    return 500;
  }
}

// biome-ignore lint/suspicious/noConsole: another place is passed as `onError`
const report = (error: unknown): void => console.error(error);

/** A store for one process, which forgets with it. @param size events that it remembers at most */
export function createMemoryStore(size = 100_000): DuplicateStore {
  const states = new Map<string, 'running' | 'done'>();
  return {
    async begin(key) {
      const state = states.get(key);
      if (state !== undefined) return state;
      states.set(key, 'running');
      const [oldest] = states.keys();
      if (states.size > size && oldest !== undefined) states.delete(oldest);
      return 'new';
    },
    async end(key, isDone) {
      if (isDone) states.set(key, 'done');
      else states.delete(key);
    },
  };
}

/** For servers with Fetch API requests: Next.js, Hono (`c.req.raw`), Deno, Bun, Cloudflare Workers. */
export const fetchHandler =
  (options: HandlerOptions, onEvent: OnEvent) =>
  async (request: Request): Promise<Response> =>
    new Response(null, { status: await handle(request, options, onEvent) });

/** The parts of Express' request and response, and of Node's, that are used. */
interface NodeResponse {
  statusCode: number;
  end(): unknown;
}

/** For Express and `node:http`. The body must not be parsed before: no `express.json()` on this route. */
export const nodeHandler =
  (options: HandlerOptions, onEvent: OnEvent) =>
  async (request: NodeRequest, response: NodeResponse): Promise<void> => {
    response.statusCode = await handle(request, options, onEvent);
    response.end();
  };

/** For a Lambda function behind API Gateway, a function URL or a load balancer. */
export const lambdaHandler =
  (options: HandlerOptions, onEvent: OnEvent) =>
  async (request: LambdaRequest): Promise<{ statusCode: number }> => ({
    statusCode: await handle(request, options, onEvent),
  });

/** The parts of Fastify that are used. */
interface FastifyServer {
  addContentTypeParser(
    type: string,
    options: { parseAs: 'buffer' },
    parser: (request: unknown, body: Uint8Array, done: (error: null, body: Uint8Array) => void) => void,
  ): unknown;
  post(path: string, handler: (request: NodeRequest, reply: FastifyReply) => Promise<unknown>): unknown;
}
interface FastifyReply {
  code(status: number): { send(): unknown };
}

/** A plugin for Fastify, whose bodies it takes as bytes on its own route alone. */
export const fastifyReceiver =
  (path: string, options: HandlerOptions, onEvent: OnEvent) =>
  async (server: FastifyServer): Promise<void> => {
    server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_, body, done) =>
      done(null, body),
    );
    server.post(path, async (request, reply) => reply.code(await handle(request, options, onEvent)).send());
  };
