import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nameOf, sourceOf } from './source.ts';

const FUNCTIONS = join(import.meta.dirname, '../../../functions');

/** Sends a write to DynamoDB, instead of describing one. */
const SENDS = /(?<![.\w])(?:update|put|remove|removeMany|lease|release|transact)\(/;

interface Part {
  name: string;
  /** The store whose method it is. */
  store: string;
  body: string;
}

/** Functions of a module, and methods of its stores. */
function listParts(path: string): Part[] {
  const text = readFileSync(join(FUNCTIONS, path), 'utf8');
  return sourceOf(path, text).places.flatMap(({ node, within }) => {
    const value = node.type === 'FunctionDeclaration' ? node : Object(node.value ?? node.init);
    if (!/Function/.test(String(value.type))) return [];
    const store = within.find(({ type }) => type === 'FunctionDeclaration');
    // Without its name, which may be that of a function that sends.
    const body = text.slice(Number(value.start ?? node.start), Number(node.end));
    return [{ name: nameOf(node.key ?? node.id), store: nameOf(store?.id), body }];
  });
}

/** Files with stores: everything but handlers and workers. */
const STORES = globSync('*/*.ts', { cwd: FUNCTIONS }).filter((path) => !/^(?:api|aws|workers)\//.test(path));

/** The methods of a module's stores that write when they are called, themselves or by another function. */
function listWriters(path: string): string[] {
  const parts = listParts(path);
  const stores = new Set(parts.map(({ store }) => store));
  let writing: Part[] = [];
  for (let before = -1; before < writing.length; ) {
    before = writing.length;
    const calls = writing.map(({ name }) => `(?<![.\\w])${name}\\(`).join('|');
    const pattern = new RegExp(calls === '' ? SENDS : `${SENDS.source}|${calls}`);
    writing = parts.filter(({ name, body }) => !stores.has(name) && pattern.test(body));
  }
  return writing.flatMap(({ name, store }) => (store === '' ? [] : [`${store}.${name}`]));
}

const WRITERS = STORES.flatMap(listWriters);

/** Stores that have all methods of another one: `...endpointStateStore(service)`. */
const SPREADS = STORES.flatMap(listParts).flatMap(({ name, body }) =>
  [...body.matchAll(/\.\.\.(\w+)\(\w+\),/g)].map(([, other = '']) => ({ store: name, other })),
);

/** Counters of the pipeline, which are no part of an effect: tokens, and when a key was used. */
const COUNTERS = ['rateWindowStore', 'keyUseStore'];

/** Calls of methods that write, as `store.method`. */
function listWrites(text: string): string[] {
  const named = [...text.matchAll(/(\w+)\(tables\.\w+/g)].map(([, store = '']) => store);
  const spread = SPREADS.filter(({ store }) => named.includes(store)).map(({ other }) => other);
  const stores = [...named, ...spread];
  return WRITERS.filter((writer) => {
    const [store = '', method] = writer.split('.');
    return stores.includes(store) && !COUNTERS.includes(store) && new RegExp(`\\.${method}\\(`).test(text);
  });
}

describe('a route', () => {
  it.each(globSync('api/**/*.ts', { cwd: FUNCTIONS }))('writes through its effect only: %s', (path) => {
    const text = readFileSync(join(FUNCTIONS, path), 'utf8');
    expect(listWrites(text)).toEqual([]);
    const commits = /\bcommit(?:ter)?\b/.test(text);
    expect(commits).toBe(path === 'api/route-handler.ts');
  });

  it('would be found with a write of its own', () => {
    expect(WRITERS).toEqual(expect.arrayContaining(['endpointStateStore.setPace', 'deliveryStore.add']));
    const text = 'const store = deliveryStore(tables.deliveries);\nawait store.add(delivery);';
    expect(listWrites(text)).toEqual(['deliveryStore.add']);
    const inherited =
      'const store = endpointStore(tables.service);\nawait store.setPace(orgId, id, undefined, mark);';
    expect(listWrites(inherited)).toEqual(['endpointStateStore.setPace']);
  });
});
