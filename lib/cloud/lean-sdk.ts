import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

/** A module of the SDK that is bundled in another's place, and why nothing is missed. */
const REPLACED: readonly { module: RegExp; by: string }[] = [
  // In Lambda there is no home directory with configuration in it; the SDK asks the code and the environment first.
  {
    module: /[/\\]shared-ini-file-loader[/\\]loadSharedConfigFiles\.js$/,
    by: `export { CONFIG_PREFIX_SEPARATOR } from './constants';
      export const loadSharedConfigFiles = async () => ({ configFile: {}, credentialsFile: {} });`,
  },
  // No operation that is called has a stream of events. They are loaded later, but what they need at once.
  {
    module: /[/\\]@smithy[/\\]core[/\\]dist-es[/\\]submodules[/\\]event-streams[/\\]index\.js$/,
    by: `export class EventStreamSerde {
        constructor() { throw new Error('streams of events are not in the bundle'); }
      }
      export const eventStreamSerdeProvider = undefined;`,
  },
  // The DynamoDB client makes one, and no command of it uses it.
  { module: /[/\\]endpoint-cache[/\\]dist-es[/\\]EndpointCache\.js$/, by: 'export class EndpointCache {}' },
  // For where Node has no SHA-256.
  {
    module: /[/\\]checksum[/\\]sha256[/\\]Sha256Js\.js$/,
    by: `export class Sha256Js {
        constructor() { throw new Error('SHA-256 is not in the bundle'); }
      }`,
  },
];

/** Of which clients say their version, and bundle all of it. */
const PACKAGE = /[/\\]@aws-sdk[/\\]client-[\w-]+[/\\]package\.json$/;
/** Where a client describes its operations. */
const SCHEMAS = /[/\\]client-[\w-]+[/\\]dist-es[/\\]schemas[/\\]schemas_\d+\.js$/;
const NAME = /^const (_\w+) = ("[^"\\]*");$/gm;
const COMPUTED_KEY = /\[(_\w+)\](?=:)/g;

/** Leaves out of the SDK what functions in Lambda have no use for. */
export const leanSdk: Plugin = {
  name: 'lean-sdk',
  setup({ onLoad }) {
    for (const { module, by } of REPLACED) onLoad({ filter: module }, () => ({ loader: 'js', contents: by }));
    onLoad({ filter: PACKAGE }, async ({ path }) => {
      const { version } = JSON.parse(await readFile(path, 'utf8'));
      return { loader: 'json', contents: JSON.stringify({ version }) };
    });
    onLoad({ filter: SCHEMAS }, async ({ path }) => ({
      loader: 'js',
      contents: withPlainKeys(await readFile(path, 'utf8')),
    }));
  },
};

/**
 * Writes keys that are names of strings, `{ [_h]: … }`, as these strings. To the bundler a computed key may do anything, so it keeps every
 * operation that has one: of SES all of them, for the one that is called.
 */
export function withPlainKeys(schemas: string): string {
  const strings = new Map([...schemas.matchAll(NAME)].map(([, name = '', string = '']) => [name, string]));
  // As a plain key it would be no key.
  for (const [name, string] of strings) if (string === '"__proto__"') strings.delete(name);
  return schemas.replace(COMPUTED_KEY, (key, name: string) => strings.get(name) ?? key);
}
