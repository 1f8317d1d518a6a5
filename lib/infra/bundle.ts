import { copyFileSync, globSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, parse } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { routes } from '../../functions/api/routes.ts';
import * as signInRoutes from '../../functions/api/sign-in/routes.ts';
import { type Route, settingsPath } from '../../functions/http/route.ts';
import { currentDocument } from '../openapi/current.ts';
import { writePage } from '../openapi/page.ts';
import type { FunctionName } from './grants/grant.ts';
import { plainKeys } from './plain-keys.ts';
import { pureSchemas } from './pure-schemas.ts';
import { buildMethodHeaders, METHOD_NOT_ALLOWED } from './served-methods.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Functions without a route: one per file of `functions/workers`. */
export const WORKERS = globSync('*.ts', { cwd: join(ROOT, 'functions/workers') })
  .map((file) => basename(file, '.ts') as FunctionName)
  .sort();
/** Functions of the dashboard's sign-in. */
export const SIGN_IN = Object.values(signInRoutes).map(({ name }) => name);
/** Functions that serve public content. */
export const DOCUMENTATION = ['read-openapi', 'docs'] as const;

/** Build options of Lambda code. */
export const TO_A_FUNCTION = {
  absWorkingDir: ROOT,
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // Only the SDK's ESM builds can be tree-shaken.
  mainFields: ['module', 'main'] as string[],
  alias: { '@aws-sdk/credential-provider-node': join(ROOT, 'functions/aws/sdk-parts.ts') },
  legalComments: 'none',
  logLevel: 'error',
} as const satisfies BuildOptions;

/** The SDK imports it for operations with an event stream, which no function calls. */
export const NEVER_IMPORTED = '@smithy/core/event-streams';

/** Replaces it where a client imports it on loading, because functions have no packages beside their code. */
const noEventStreams: Plugin = {
  name: 'no-event-streams',
  setup({ onResolve }) {
    onResolve({ filter: new RegExp(`^${NEVER_IMPORTED}$`) }, ({ kind }) =>
      kind === 'import-statement' ? { path: join(ROOT, 'functions/aws/sdk-parts.ts') } : undefined,
    );
  },
};

/** Without these plugins esbuild keeps schemas and SDK operations that a function does not use. */
const UNUSED_LEFT_OUT: Plugin[] = [pureSchemas(join(ROOT, 'functions')), plainKeys, noEventStreams];

/**
 * Bundles each function into one file with only what it uses, so that a change of one function changes no
 * other's asset.
 * @param directory recreated
 * @param onOutputs called with what each part of the code contains, for tests
 * @returns the directory of a function's code, whose handler is `index.handler`
 */
export async function bundleFunctions(
  directory: string,
  onOutputs?: (outputs: Metafile['outputs']) => void,
): Promise<(name: FunctionName) => string> {
  rmSync(directory, { recursive: true, force: true });
  await Promise.all([
    ...callableBuilds(directory).map((options) => run(options, onOutputs)),
    bundleDocumentation(directory, onOutputs),
    bundleMethodNotAllowed(directory, onOutputs),
  ]);
  for (const { name } of Object.values<Route>(routes).filter((route) => settingsPath(route) !== undefined))
    copyFileSync(join(directory, SESSIONS), join(directory, name, SESSIONS));
  rmSync(join(directory, SESSIONS));
  return bundlesIn(directory);
}

/** Bundles the function of the gateway's other methods, with the methods of each path beside its code. */
async function bundleMethodNotAllowed(
  directory: string,
  onOutputs?: (outputs: Metafile['outputs']) => void,
): Promise<void> {
  await run(methodNotAllowedBuild(directory), onOutputs);
  writeFileSync(join(directory, METHOD_NOT_ALLOWED, 'methods.json'), JSON.stringify(buildMethodHeaders()));
}

async function run(options: BuildOptions, onOutputs?: (outputs: Metafile['outputs']) => void): Promise<void> {
  const { metafile } = await build({ ...options, metafile: onOutputs !== undefined });
  if (metafile !== undefined) onOutputs?.(metafile.outputs);
}

/** Bundles only the documentation functions, with the pages that they serve beside their code. */
export async function bundleDocumentation(
  directory: string,
  onOutputs?: (outputs: Metafile['outputs']) => void,
): Promise<(name: FunctionName) => string> {
  await Promise.all([
    run(documentationBuild(directory), onOutputs),
    writePage(join(directory, 'docs' satisfies FunctionName, 'page')),
  ]);
  writeFileSync(join(directory, 'read-openapi', 'openapi.json'), JSON.stringify(currentDocument()));
  return bundlesIn(directory);
}

/** Build options of {@link bundleFunctions}. */
export const functionBuilds = (directory: string): BuildOptions[] => [
  ...callableBuilds(directory),
  documentationBuild(directory),
  methodNotAllowedBuild(directory),
];

/** All except those that need files beside their code. */
const callableBuilds = (directory: string): BuildOptions[] => [
  handlersBuild(directory),
  sessionsBuild(directory),
  extractBuild(join(directory, EXTRACT)),
];

/**
 * One pass, because functions share most of their sources. No shared chunks: a function would load 15 or more
 * files, at 2 ms each, with schemas of others.
 */
const handlersBuild = (directory: string): BuildOptions => ({
  ...createBuild(
    directory,
    callableEntries().filter(([name]) => name !== EXTRACT),
  ),
  plugins: [...UNUSED_LEFT_OUT, sessionsApart],
});

/** The file with session verification. */
const SESSIONS = 'sessions.mjs';

/**
 * Loads session verification, which only a user's first call needs, from a separate file. In the same bundle
 * esbuild would wrap all shared modules and stop tree-shaking them.
 */
const sessionsApart: Plugin = {
  name: 'sessions-apart',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/sessions\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: `./${SESSIONS}`, external: true } : undefined,
    );
  },
};

/** Session verification, which is copied to each function that API keys and users call. */
const sessionsBuild = (directory: string): BuildOptions => ({
  ...createBuild(directory, []),
  entryPoints: { [parse(SESSIONS).name]: 'functions/api/sessions.ts' },
});

const documentationBuild = (directory: string): BuildOptions => createBuild(directory, DOCUMENTATION_ENTRIES);

const methodNotAllowedBuild = (directory: string): BuildOptions =>
  createBuild(directory, [METHOD_NOT_ALLOWED_ENTRY]);

type Entry = readonly [name: FunctionName, file: string];

/** Entry file of each function. */
export const entryPoints = (): Record<FunctionName, string> =>
  Object.fromEntries([...callableEntries(), ...DOCUMENTATION_ENTRIES, METHOD_NOT_ALLOWED_ENTRY]) as Record<
    FunctionName,
    string
  >;

const callableEntries = (): Entry[] => [
  ...Object.values(routes).map(({ name }): Entry => [name, findRouteFile(name)]),
  ...WORKERS.map((name): Entry => [name, `functions/workers/${name}.ts`]),
  ...SIGN_IN.map((name): Entry => [name, `functions/api/sign-in/${name}.ts`]),
];
const DOCUMENTATION_ENTRIES = DOCUMENTATION.map(
  (name): Entry => [name, `functions/api/documentation/${name}.ts`],
);
const METHOD_NOT_ALLOWED_ENTRY: Entry = [
  METHOD_NOT_ALLOWED,
  'functions/api/documentation/method-not-allowed.ts',
];

const createBuild = (directory: string, entries: readonly Entry[]): BuildOptions => ({
  ...TO_A_FUNCTION,
  entryPoints: Object.fromEntries(entries.map(([name, file]) => [`${name}/index`, file])),
  outdir: directory,
  outExtension: { '.js': '.mjs' },
  alias: {
    ...TO_A_FUNCTION.alias,
    '@aws-sdk/endpoint-cache': join(ROOT, 'functions/aws/sdk-parts.ts'),
  },
  external: [NEVER_IMPORTED],
  plugins: UNUSED_LEFT_OUT,
});

const EXTRACT = 'extract-content' satisfies FunctionName;

/** The function with the parsers, each in a file of its own: a cold start loads the one that it needs. */
export const extractBuild = (directory: string): BuildOptions => ({
  ...createBuild(directory, []),
  entryPoints: { index: `functions/workers/${EXTRACT}.ts` },
  // Bundled CommonJS libraries require Node's modules.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
  splitting: true,
});

/** Uses earlier output of {@link bundleFunctions}. */
export async function bundlesIn(directory: string): Promise<(name: FunctionName) => string> {
  return (name) => join(directory, name);
}

/** Routes are grouped by resource: `functions/api/webhooks/register-webhook.ts`. */
function findRouteFile(route: string): string {
  const [file] = globSync(`functions/api/*/${route}.ts`, { cwd: ROOT });
  if (file === undefined) throw new Error(`no file of functions/api is named after the route ${route}`);
  return file;
}
