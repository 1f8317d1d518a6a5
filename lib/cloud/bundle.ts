import { globSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { routes } from '../../functions/api/routes.ts';
import { currentDocument } from '../openapi/current.ts';
import { writePage } from '../openapi/page.ts';
import { pureSchemas } from './pure-schemas.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Functions that are not behind a route. */
export const WORKERS = [
  'fan-out',
  'dispatch',
  'watch',
  'reconcile',
  'audit',
  'dead-reminders',
  'dead-fan-outs',
  'purge',
  'publish',
  'dead-publications',
  'meter',
  'relay',
  'sweep',
  'check-source',
  'notify',
  'enrol',
] as const;
/** Functions that serve what is the same for everybody. */
export const DOCUMENTATION = ['read-openapi', 'docs'] as const;
export type FunctionName =
  | (typeof routes)[keyof typeof routes]['name']
  | (typeof WORKERS)[number]
  | (typeof DOCUMENTATION)[number];

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
  alias: { '@aws-sdk/credential-provider-node': join(ROOT, 'functions/platform/credentials.ts') },
  legalComments: 'none',
  logLevel: 'error',
} as const satisfies BuildOptions;

/**
 * Bundles each function into one file that holds what it uses and nothing else; a change of one function changes no other's asset.
 * One pass for all, since they share most of their sources. Not split into shared chunks: a function would load 15 files or more,
 * at 2 ms, and schemas of others with them.
 * @param directory made anew
 * @returns the directory of a function's code, whose handler is `index.handler`
 */
export async function bundleFunctions(directory: string): Promise<(name: FunctionName) => string> {
  const entries = [
    ...Object.values(routes).map(({ name }) => ({ name, file: fileOf(name) })),
    ...WORKERS.map((name) => ({ name, file: `functions/workers/${name}.ts` })),
    ...DOCUMENTATION.map((name) => ({ name, file: `functions/documentation/${name}.ts` })),
  ];
  rmSync(directory, { recursive: true, force: true });
  await build({
    ...TO_A_FUNCTION,
    entryPoints: {
      ...Object.fromEntries(entries.map(({ name, file }) => [`${name}/index`, file])),
      // What it starts as a process of its own, and finds beside itself.
      ['check-source/reader' satisfies `${FunctionName}/reader`]: 'functions/platform/extraction/reader.ts',
    },
    outdir: directory,
    outExtension: { '.js': '.mjs' },
    plugins: [pureSchemas(join(ROOT, 'functions'))],
  });
  // What these serve stands beside their code.
  writeFileSync(join(directory, 'read-openapi', 'openapi.json'), JSON.stringify(currentDocument()));
  writePage(join(directory, 'docs', 'page'));
  return bundlesIn(directory);
}

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
