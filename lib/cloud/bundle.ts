import { globSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { routes } from '../../functions/api/routes.ts';
import { type Route, settingsPath } from '../../functions/platform/route.ts';
import * as signInRoutes from '../../functions/sign-in/routes.ts';
import { currentDocument } from '../openapi/current.ts';
import { writePage } from '../openapi/page.ts';
import type { FunctionName } from './grants/grant.ts';
import { plainKeys } from './plain-keys.ts';
import { pureSchemas } from './pure-schemas.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Functions without a route: each file of `functions/workers` is one. */
export const WORKERS = globSync('*.ts', { cwd: join(ROOT, 'functions/workers') })
  .map((file) => basename(file, '.ts') as FunctionName)
  .sort();
/** Functions by which people sign in to the dashboard. */
export const SIGN_IN = Object.values(signInRoutes).map(({ name }) => name);
/** Functions that serve what is the same for everybody. */
export const DOCUMENTATION = ['read-openapi', 'docs'] as const;

/** How sources become what Lambda runs. */
export const TO_A_FUNCTION = {
  absWorkingDir: ROOT,
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // The ESM builds of the SDK can be shaken; its "main" builds cannot.
  mainFields: ['module', 'main'] as string[],
  alias: { '@aws-sdk/credential-provider-node': join(ROOT, 'functions/platform/sdk-substitutes.ts') },
  legalComments: 'none',
  logLevel: 'error',
} as const satisfies BuildOptions;

/** Without them esbuild keeps schemas and SDK operations that a function does not use. */
const UNUSED_LEFT_OUT: Plugin[] = [pureSchemas(join(ROOT, 'functions')), plainKeys];

/** The SDK imports it when an operation with an event stream is called, which no function does. */
export const NEVER_IMPORTED = '@smithy/core/event-streams';

/**
 * Bundles each function into one file that holds what it uses and nothing else; a change of one function
 * changes no other's asset.
 * @param directory made anew
 * @returns the directory of a function's code, whose handler is `index.handler`
 */
export async function bundleFunctions(directory: string): Promise<(name: FunctionName) => string> {
  rmSync(directory, { recursive: true, force: true });
  await Promise.all([
    ...callableBuilds(directory).map((options) => build(options)),
    bundleDocumentation(directory),
  ]);
  return bundlesIn(directory);
}

/** Bundles the functions that serve the documentation alone. What they serve stands beside their code. */
export async function bundleDocumentation(directory: string): Promise<(name: FunctionName) => string> {
  await Promise.all([
    build(documentationBuild(directory)),
    writePage(join(directory, 'docs' satisfies FunctionName, 'page')),
  ]);
  writeFileSync(join(directory, 'read-openapi', 'openapi.json'), JSON.stringify(currentDocument()));
  return bundlesIn(directory);
}

/** How the code is made that {@link bundleFunctions} writes to a directory. */
export const functionBuilds = (directory: string): BuildOptions[] => [
  ...callableBuilds(directory),
  documentationBuild(directory),
];

/** All but the documentation, whose functions are nothing without the pages beside them. */
const callableBuilds = (directory: string): BuildOptions[] => [
  handlersBuild(directory),
  sessionsBuild(directory),
  readerBuild(join(directory, 'check-source' satisfies FunctionName)),
];

/**
 * One pass for all, since they share most of their sources. Not split into shared chunks: a function would
 * load 15 files or more, at 2 ms, and schemas of others with them.
 */
const handlersBuild = (directory: string): BuildOptions => ({
  ...buildOf(directory, callableEntries()),
  plugins: [...UNUSED_LEFT_OUT, sessionsApart],
});

/**
 * What is loaded with the first call of a person stands beside the bundle, whole. Inside of it esbuild would
 * wrap all that both have in common, and then leaves out nothing of it.
 */
const sessionsApart: Plugin = {
  name: 'sessions-apart',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/sessions\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './sessions.mjs', external: true } : undefined,
    );
  },
};

/** What verifies sessions, for each function that keys and people call. */
const sessionsBuild = (directory: string): BuildOptions => ({
  ...buildOf(directory, []),
  entryPoints: (Object.values(routes) as Route[])
    .filter((route) => settingsPath(route) !== undefined)
    .map(({ name }) => ({ in: 'functions/api/sessions.ts', out: `${name}/sessions` })),
});

const documentationBuild = (directory: string): BuildOptions => buildOf(directory, DOCUMENTATION_ENTRIES);

type Entry = readonly [name: FunctionName, file: string];

/** Where the code of each function begins. */
export const entryPoints = (): Record<FunctionName, string> =>
  Object.fromEntries([...callableEntries(), ...DOCUMENTATION_ENTRIES]) as Record<FunctionName, string>;

const callableEntries = (): Entry[] => [
  ...Object.values(routes).map(({ name }): Entry => [name, fileOf(name)]),
  ...WORKERS.map((name): Entry => [name, `functions/workers/${name}.ts`]),
  ...SIGN_IN.map((name): Entry => [name, `functions/sign-in/${name}.ts`]),
];
const DOCUMENTATION_ENTRIES = DOCUMENTATION.map(
  (name): Entry => [name, `functions/documentation/${name}.ts`],
);

const buildOf = (directory: string, entries: readonly Entry[]): BuildOptions => ({
  ...TO_A_FUNCTION,
  entryPoints: Object.fromEntries(entries.map(([name, file]) => [`${name}/index`, file])),
  outdir: directory,
  outExtension: { '.js': '.mjs' },
  alias: {
    ...TO_A_FUNCTION.alias,
    '@aws-sdk/endpoint-cache': join(ROOT, 'functions/platform/sdk-substitutes.ts'),
  },
  external: [NEVER_IMPORTED],
  plugins: UNUSED_LEFT_OUT,
});

/**
 * How the code is made that a function starts as a process of its own, and finds beside itself. Each process
 * loads one of its parsers.
 */
export const readerBuild = (directory: string): BuildOptions => ({
  ...TO_A_FUNCTION,
  // Libraries in it that are CommonJS require Node's modules.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
  entryPoints: { reader: 'functions/knowledge/reader.ts' },
  outdir: directory,
  outExtension: { '.js': '.mjs' },
  splitting: true,
});

/** What {@link bundleFunctions} has made before. */
export async function bundlesIn(directory: string): Promise<(name: FunctionName) => string> {
  return (name) => join(directory, name);
}

/** Routes are kept by resource: `functions/api/webhooks/register-webhook.ts`. */
function fileOf(route: string): string {
  const [file] = globSync(`functions/api/*/${route}.ts`, { cwd: ROOT });
  if (file === undefined) throw new Error(`no file of functions/api is named after the route ${route}`);
  return file;
}
