import { copyFileSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { buildSync, type Metafile } from 'esbuild';
import { routes } from '../../functions/api/routes.ts';
import { currentDocument } from '../openapi/current.ts';
import { writePage } from '../openapi/page.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Functions that are not behind a route. */
export const WORKERS = ['fan-out', 'dispatch', 'enrol'] as const;
/** Functions that serve what is the same for everybody. */
export const DOCUMENTATION = ['read-openapi', 'docs'] as const;
export type FunctionName =
  | (typeof routes)[keyof typeof routes]['name']
  | (typeof WORKERS)[number]
  | (typeof DOCUMENTATION)[number];

/**
 * Bundles all functions in one pass, so that what they share is built once, and gives each a directory of its own with just
 * the chunks that it loads: a change of one function then changes no other's asset.
 * @param directory made anew
 * @returns the directory of a function's code, whose handler is `index.handler`
 */
export function bundleFunctions(directory: string): (name: FunctionName) => string {
  const entries = [
    ...Object.values(routes).map(({ name }) => ({ name, file: fileOf(name) })),
    ...WORKERS.map((name) => ({ name, file: `functions/workers/${name}.ts` })),
    ...DOCUMENTATION.map((name) => ({ name, file: `functions/documentation/${name}.ts` })),
  ];
  const shared = join(directory, 'shared');
  rmSync(directory, { recursive: true, force: true });
  const { metafile } = buildSync({
    absWorkingDir: ROOT,
    entryPoints: Object.fromEntries(entries.map(({ name, file }) => [name, file])),
    outdir: shared,
    bundle: true,
    splitting: true,
    minify: true,
    metafile: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // The ESM builds of the SDK can be shaken and split; its "main" builds cannot.
    mainFields: ['module', 'main'],
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunks/[name]-[hash]',
    alias: { '@aws-sdk/credential-provider-node': join(ROOT, 'functions/platform/credentials.ts') },
    legalComments: 'none',
    logLevel: 'error',
  });

  const outputs = new Map(
    Object.entries(metafile.outputs).map(([file, output]) => [join(ROOT, file), output]),
  );
  for (const { name } of entries) {
    const entry = join(shared, `${name}.mjs`);
    for (const file of loadedBy(entry, outputs)) {
      const target =
        file === entry ? join(directory, name, 'index.mjs') : join(directory, name, 'chunks', basename(file));
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(file, target);
    }
  }
  // What these serve stands beside their code.
  writeFileSync(join(directory, 'read-openapi', 'openapi.json'), JSON.stringify(currentDocument()));
  writePage(join(directory, 'docs', 'page'));
  return (name) => join(directory, name);
}

/** Routes are kept by resource: `functions/api/webhooks/register-webhook.ts`. */
function fileOf(route: string): string {
  const [file] = globSync(`functions/api/*/${route}.ts`, { cwd: ROOT });
  if (file === undefined) throw new Error(`no file of functions/api is named after the route ${route}`);
  return file;
}

/** An output file and all chunks that it imports, directly or not. */
function loadedBy(
  file: string,
  outputs: ReadonlyMap<string, Metafile['outputs'][string]>,
  seen = new Set<string>(),
): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const imported of outputs.get(file)?.imports ?? [])
    if (!imported.external) loadedBy(join(ROOT, imported.path), outputs, seen);
  return seen;
}
