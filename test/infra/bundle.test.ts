import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { routes } from '../../functions/api/routes.ts';
import type { Route } from '../../functions/http/route.ts';
import { NEVER_IMPORTED, WORKERS } from '../../lib/infra/bundle.ts';
import { OUTPUTS_FILE } from '../integration/bundles.ts';

/** The size limit of one code file. */
const MAX_BYTES = 400 * 1024;

/** Packages that handlers do not need: each was in a bundle once, or would be with an update of the SDK. */
const BANISHED = {
  'a second version of the SDK': /node_modules\/.+\/node_modules\/@(aws-sdk|smithy)\//,
  'the chain of credentials':
    /@aws-sdk\/(credential-provider-(?!env\/)|token-providers|nested-clients)|credential-provider-imds/,
  'streams of events': /event-streams\/(eventstream|EventStreamSerde)/,
  'the cache of endpoint discovery': /node_modules\/(mnemonist|obliterator)\//,
  'HTTP/2': /node-http2/,
  "the schema library's other edition, or its languages": /zod\/v4\/(classic|locales\/(?!en\.))/,
  Powertools: /@aws-lambda-powertools\//,
};

describe('the functions’ code', () => {
  const directory = process.env.CDK_BUNDLES ?? '';
  const made: Metafile['outputs'] = JSON.parse(readFileSync(join(directory, OUTPUTS_FILE), 'utf8'));
  const outputs = Object.entries(made);

  /** Code files that contain something of a module. */
  const holding = (module: RegExp) =>
    outputs.flatMap(([file, { inputs }]) =>
      Object.entries(inputs)
        .filter(([path, { bytesInOutput }]) => bytesInOutput > 0 && module.test(path))
        .map(([path]) => `${file}: ${path}`),
    );

  it('has files of at most 400 KiB', () => {
    expect(outputs.length).toBeGreaterThan(WORKERS.length);
    const large = outputs.filter(([, { bytes }]) => bytes > MAX_BYTES);
    expect(large.map(([file, { bytes }]) => `${file}: ${bytes}`)).toEqual([]);
  });

  it.each(Object.entries(BANISHED))('does not contain %s', (_, module) =>
    expect(holding(module)).toEqual([]),
  );

  it('imports no package, except those that the SDK imports lazily', () => {
    const handlers = outputs.filter(([file]) => file.endsWith('/index.mjs'));
    const imported = handlers.flatMap(([file, { imports }]) =>
      imports
        .filter(({ external, path }) => external && !/^(node:|\.\/)/.test(path) && !isBuiltin(path))
        .map(({ kind, path }) => ({ file, kind, path })),
    );
    expect(imported).toContainEqual({
      file: expect.stringContaining('/dispatch/index.mjs'),
      kind: 'dynamic-import',
      path: NEVER_IMPORTED,
    });
    expect(imported.filter(({ kind, path }) => kind !== 'dynamic-import' || path !== NEVER_IMPORTED)).toEqual(
      [],
    );
  });

  it('imports no module of Node that loads many others: 1.5 ms for util, 19 for http', () => {
    const imported = outputs.flatMap(([file, { imports }]) =>
      imports
        .filter(({ kind, path }) => kind === 'import-statement' && /^(node:)?(util|http)$/.test(path))
        .map(({ path }) => `${file}: ${path}`),
    );
    expect(imported).toEqual([]);
  });

  it('has the library for addresses only where an address is checked', () => {
    // What uses it is in one module; a mere import of the library is 18 bytes of that module.
    const users = outputs.filter(([, { inputs }]) =>
      Object.entries(inputs).some(
        ([path, { bytesInOutput }]) => path.endsWith('receivers/receiver-url.ts') && bytesInOutput > 100,
      ),
    );
    const holders = holding(/ipaddr\.js/).map((held) => held.replace(/: .*/, ''));
    expect(holders.length).toBeGreaterThan(0);
    expect(users.map(([file]) => file)).toEqual(expect.arrayContaining(holders));
  });

  it('has the session verifier in a separate file where only keys call, and in the main file where users call', () => {
    const verifiers = holding(/node_modules\/jose\//).map((held) => held.replace(/: .*/, ''));
    expect(verifiers.some((file) => file.endsWith('/sessions.mjs'))).toBe(true);
    const all: Route[] = Object.values(routes);
    for (const { name, role, dashboard } of all)
      expect([
        name,
        verifiers.some((file) => file.endsWith(`/${name}/index.mjs`)),
        existsSync(join(directory, name, 'sessions.mjs')),
      ]).toEqual([name, role !== undefined, dashboard !== undefined]);
  });

  it('has a parser only where content is read', () => {
    const parsers = /node_modules\/(htmlparser2|csv-parse)\//;
    expect(
      holding(parsers).filter((held) => /\/index\.mjs: /.test(held) || !held.includes('/extract-content/')),
    ).toEqual([]);
  });
});
