import { openSync, writeSync } from 'node:fs';
import type { Observation } from './observer.ts';

/*
 * Loaded first into every function's process: records each attempt to reach something outside the process, in
 * the last function of Node.js before the operating system, which every library uses.
 */

type Method = (this: unknown, ...args: unknown[]) => unknown;
type Methods = Record<string, Method>;

const { OBSERVED_FILE = '', FUNCTION_NAME: by = '', ...variables } = process.env;
const file = openSync(OBSERVED_FILE, 'a');

function note(kind: Observation['kind'], to: string): void {
  const observation: Observation = { by, kind, to };
  writeSync(file, `${JSON.stringify(observation)}\n`);
}

/**
 * Calls the recorder before the original function.
 * @param to the target that the arguments name; undefined when they name no new one
 */
function watch(
  methods: Methods,
  names: readonly string[],
  kind: Observation['kind'],
  to: (args: readonly unknown[]) => string | undefined,
): void {
  for (const name of names) {
    const original = methods[name];
    if (original === undefined)
      throw new Error(`this Node.js has no ${name} where the observer looks for it`);
    methods[name] = function observed(...args) {
      const named = to(args);
      if (named !== undefined) note(kind, named);
      return Reflect.apply(original, this, args);
    };
  }
}

// Every other access to these bindings is deprecated or sees less.
const binding: (name: string) => Record<string, { prototype: Methods }> = Reflect.get(process, 'binding');
const listFunctions = (name: string): Methods => binding(name) as unknown as Methods;
const getPrototype = (name: string, type: string): Methods => {
  const original = binding(name)[type];
  if (original === undefined) throw new Error(`this Node.js has no ${type} where the observer looks for it`);
  return original.prototype;
};

watch(getPrototype('tcp_wrap', 'TCP'), ['connect'], 'tcp', ([, address, port]) => `${address}:${port}`);
watch(getPrototype('tcp_wrap', 'TCP'), ['connect6'], 'tcp', ([, address, port]) => `[${address}]:${port}`);
watch(getPrototype('pipe_wrap', 'Pipe'), ['connect'], 'pipe', ([, path]) => String(path));

watch(
  getPrototype('udp_wrap', 'UDP'),
  ['connect', 'connect6'],
  'udp',
  ([address, port]) => `${address}:${port}`,
);
// A connected socket sends without an address.
watch(getPrototype('udp_wrap', 'UDP'), ['send', 'send6'], 'udp', ([, , , port, address]) =>
  typeof address === 'string' ? `${address}:${port}` : undefined,
);

const channel = getPrototype('cares_wrap', 'ChannelWrap');
const questions = Object.getOwnPropertyNames(channel).filter((name) => /^(query|getHostByAddr)/.test(name));
watch(channel, questions, 'dns', ([, name]) => String(name));
watch(listFunctions('cares_wrap'), ['getaddrinfo', 'getnameinfo'], 'dns', ([, name]) => String(name));

/** One takes the program as an argument, the other in its options. */
const readFileArgument = ([file]: readonly unknown[]): string => String(Object(file).file ?? file);
watch(getPrototype('process_wrap', 'Process'), ['spawn'], 'process', readFileArgument);
watch(listFunctions('spawn_sync'), ['spawn'], 'process', readFileArgument);

// Where the function may connect to: the engines from the run's environment, and the issuer of sessions.
for (const [name, value = ''] of Object.entries(variables))
  if (name.startsWith('AWS_ENDPOINT_URL') || name === 'OIDC_ISSUER') note('engine', value);
