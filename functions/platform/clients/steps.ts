import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { getSchemaSerdePlugin } from '@smithy/core/schema';

type Config = DynamoDBClient['config'];
type Stack = DynamoDBClient['middlewareStack'];
type Resolution = Parameters<Stack['resolve']>;
type Step = <A, O>(next: (args: A) => Promise<O>, context: object) => (args: A) => Promise<O>;

/** The part of a client that sends; the types of the SDK's clients differ for one shape. */
interface Sender {
  config: Config;
  middlewareStack: Stack;
  send(command: Command, options?: { abortSignal?: AbortSignal }): Promise<unknown>;
}

interface Command {
  input: object;
  resolveMiddleware(stack: Stack, config: Config, options?: object): unknown;
}

/**
 * Makes a client send with steps that are put together once for each kind of command, where the SDK puts them
 * together for each request (docs/decisions/0030-processor-time.md). The steps are the SDK's own, those of
 * the command and those added to the client, but for a few that compute for each request what is the same for
 * all.
 * @param client has the `signer` of `leanClientOptions`, names its tables and queues in one region, and has a
 * request handler that takes no option but the signal
 * @returns the client
 */
export function withKeptSteps<C extends DynamoDBDocumentClient | EventBridgeClient | SQSClient>(
  client: C,
): C {
  const sender = client as unknown as Sender;
  const { config, middlewareStack } = sender;
  const kinds = new Map<unknown, ReturnType<typeof stepsOf>>();
  sender.middlewareStack = tellChanges(middlewareStack, () => kinds.clear());
  const ofClass = Object.getPrototypeOf(client);
  sender.send = async (command, options = {}) => {
    // The SDK's classes inherit their `send`: this one is a mock's.
    if (Object.hasOwn(ofClass, 'send')) return ofClass.send.call(client, command, options);
    let kind = kinds.get(command.constructor);
    if (kind === undefined) {
      kind = stepsOf(command, middlewareStack, config);
      kinds.set(command.constructor, kind);
    }
    const { output } = await kind(options)({ input: command.input });
    return output;
  };
  return client;
}

/** A stack that calls `changed` before it changes. */
function tellChanges(stack: Stack, changed: () => void): Stack {
  const telling =
    <Given extends unknown[], Result>(change: (...given: Given) => Result) =>
    (...given: Given): Result => {
      changed();
      return change(...given);
    };
  return {
    ...stack,
    add: telling(stack.add),
    addRelativeTo: telling(stack.addRelativeTo),
    use: telling(stack.use),
    remove: telling(stack.remove),
    removeByTag: telling(stack.removeByTag),
  } as Stack;
}

/**
 * Puts together the steps for all commands of a kind.
 * @returns the steps of a request by its options: new ones for a signal, because the SDK's retry step takes
 * it from the context of the steps
 */
function stepsOf(command: Command, stack: Stack, config: Config) {
  const { stacks, context } = resolutionOf(command, config);
  const all = stacks.reduce((whole, each) => whole.concat(each), stack);
  leaveOut(all, stacks, config);
  const resolve = (options: { abortSignal?: AbortSignal }) =>
    all.resolve(({ request }) => config.requestHandler.handle(request as never, options) as never, {
      ...context,
      __smithy_context: { ...Object(context).__smithy_context, ...options },
    } as Resolution[1]);
  const kept = resolve({});
  return (options: { abortSignal?: AbortSignal }) =>
    (options.abortSignal === undefined ? kept : resolve(options)) as (args: {
      input: object;
    }) => Promise<{ output: unknown }>;
}

/** The stacks that a command adds to its client's, and the context of its steps. */
function resolutionOf(command: Command, config: Config) {
  const stacks: Stack[] = [];
  let context: Resolution[1] = {};
  const recorder = {
    concat(stack: Stack) {
      stacks.push(stack);
      return recorder;
    },
    resolve(...[, given]: Resolution) {
      context = given;
    },
  };
  command.resolveMiddleware(recorder as unknown as Stack, config);
  return { stacks, context };
}

/**
 * Leaves out what a request of these clients does not need, and computes once what is the same for all.
 * @throws when a version of the SDK does not have one of the steps
 */
function leaveOut(all: Stack, stacks: readonly Stack[], config: Config): void {
  const endpoint = stacks.map((stack) => stepIn(stack, 'endpointV2Middleware')).find(Boolean);
  const remove = (name: string) => {
    if (!all.remove(name)) throw new Error(`the SDK has no step ${name}`);
  };
  // Copies each request and response, for a logger that drops them.
  remove('loggerMiddleware');
  // `node:http` counts a whole body itself.
  remove('contentLengthMiddleware');
  remove('getUserAgentMiddleware');
  all.add(nameClient(config), { step: 'build', priority: 'low', name: 'nameClient' });
  remove('httpAuthSchemeMiddleware');
  remove('endpointV2Middleware');
  all.addRelativeTo(selectOnce(endpoint as Step, config), {
    name: 'endpointV2Middleware',
    relation: 'before',
    toMiddleware: 'serializerMiddleware',
  });
  // Copy all of the configuration, of which they need the protocol.
  const { protocol } = config;
  all.use(getSchemaSerdePlugin({ protocol } as Parameters<typeof getSchemaSerdePlugin>[0]));
  protocol.setSerdeContext(config);
}

/** A stack tells its steps only to another one. */
function stepIn(stack: Stack, name: string): Step | undefined {
  const found = new Map<unknown, Step>();
  const add = (step: Step, options: { name?: string }) => found.set(options.name, step);
  stack.applyToStack({ add, addRelativeTo: add } as unknown as Stack);
  return found.get(name);
}

/** Sends the same `user-agent` with each request, without the features that the SDK adds to it. */
function nameClient({ defaultUserAgentProvider }: Config): Step {
  let named: Promise<string> | undefined;
  const name = async () => (await defaultUserAgentProvider()).map(toProduct).join(' ');
  return (next) => async (args) => {
    named ??= name();
    const { headers } = Object(args).request;
    headers['user-agent'] = await named;
    return next(args);
  };
}

/** `name/version`, or `category/name#version` as in `os/linux#6.1`. */
const toProduct = ([name, version]: readonly [string, string?]): string =>
  version === undefined ? name : `${name}${name.includes('/') ? '#' : '/'}${version}`;

/**
 * Selects Signature Version 4 for the SDK's signing step, which also corrects for a wrong clock, and keeps
 * the endpoint that the SDK's step resolves for the first request.
 */
function selectOnce(resolveEndpoint: Step, config: Config): Step {
  const { schemeId, signer } = Object(
    config.httpAuthSchemes.find((scheme) => scheme.schemeId === 'aws.auth#sigv4'),
  );
  return (next, context) => {
    const shared = Object(context);
    const signingProperties = { config, context };
    shared.__smithy_context.selectedHttpAuthScheme = {
      httpAuthOption: { schemeId, signingProperties },
      signer,
    };
    let endpoint: unknown;
    const resolving = resolveEndpoint((args: Parameters<typeof next>[0]) => {
      endpoint = shared.endpointV2;
      return next(args);
    }, context);
    return (args) => {
      if (endpoint === undefined) return resolving(args);
      shared.endpointV2 = endpoint;
      return next(args);
    };
  };
}
