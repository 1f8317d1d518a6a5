import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NOTICES } from '../../../functions/events/bus.ts';
import { MAIL_BUDGETS } from '../../../functions/notices/mail.ts';
import { violationsOf } from './gate-check.ts';
import { ALLOWED, GLOBALS, isIn, TAKEN_FROM_OUTBOUND } from './reach.ts';
import { nameOf, type Place, type Source, sourceOf } from './source.ts';

const ROOT = join(import.meta.dirname, '../../..');
const FUNCTIONS = join(ROOT, 'functions');

interface Read extends Source {
  text: string;
}

/** Sources of a directory, each parsed once for all checks, because parsing takes long. */
const readSources = (directory: string): Read[] =>
  globSync('**/*.ts', { cwd: join(ROOT, directory) }).map((path) => {
    const text = readFileSync(join(ROOT, directory, path), 'utf8');
    return { ...sourceOf(path, text), text };
  });
/** Paths begin below `functions/`. */
const sources = readSources('functions');
const others = ['lib', 'bin'].flatMap((directory) =>
  readSources(directory).map((source) => ({ ...source, path: `${directory}/${source.path}` })),
);
const all: Read[] = [
  ...sources.map((source) => ({ ...source, path: `functions/${source.path}` })),
  ...others,
];

describe('the functions', () => {
  it('are TypeScript, so that this check reads every file', () => {
    const files = globSync('**/*', { cwd: FUNCTIONS, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter(({ name }) => !name.endsWith('.ts'))).toEqual([]);
  });

  it('reach only what the table permits, and the outside world only with a permit', () => {
    expect(sources.flatMap(violationsOf)).toEqual([]);
  });
});

describe('the table of permitted modules', () => {
  const entries = ALLOWED.flatMap(({ modules, in: files }) =>
    modules.flatMap((module) => files.map((place) => ({ module, place }))),
  );

  it.each(entries)('has a user of $module in "$place"', ({ module, place }) => {
    const users = sources.filter(
      ({ path, loads }) => isIn(path, [place]) && loads.some((each) => each.module === module),
    );
    expect(users).not.toEqual([]);
  });

  it.each(TAKEN_FROM_OUTBOUND)('has a user of $name', ({ name, by }) => {
    const users = sources.filter(
      ({ path, loads }) => isIn(path, by) && loads.some(({ names }) => names.includes(name)),
    );
    expect(users).not.toEqual([]);
  });

  it('has a use of each global name in each file', () => {
    for (const [name, files] of Object.entries(GLOBALS))
      for (const place of files) {
        const source = sources.find(({ path }) => path === place);
        const said = source?.places.some(({ node }) => node.type === 'Identifier' && nameOf(node) === name);
        expect(said, `${name} in ${place}`).toBe(true);
      }
  });

  it('names the one file that requires a permit for everything that reaches the outside world', () => {
    for (const { modules, reaches, permit } of ALLOWED) {
      expect(permit !== undefined, modules.join()).toBe(reaches === 'the outside world');
      if (permit !== undefined) expect(sources.map(({ path }) => path)).toContain(permit.in);
    }
  });
});

describe('a function', () => {
  it.each(sources.filter(({ text }) => text.includes('export const handler')))(
    'is a handler of middy: $path',
    ({ text }) => {
      expect(/export const handler =\s(\w+)/.exec(text)?.[1]).toMatch(
        /^middy$|Handler$|Worker$|^outboxReader$/,
      );
    },
  );

  it.each(sources.filter(({ text }) => /\bmiddy</.test(text)))(
    'has the frame of requests, or the middleware of workers: $path',
    ({ path, text }) => {
      const frames = path === 'http/lifecycle.ts' ? 1 : 0;
      const workers = text.match(/\.use\(invocation\(/g)?.length ?? 0;
      expect(frames + workers).toBe(text.match(/\bmiddy</g)?.length);
    },
  );
});

/** Requests that AWS may process in part, and the words by which the rest of them is read from the answer. */
const BATCHES: Readonly<Record<string, RegExp>> = {
  BatchGetCommand: /UnprocessedKeys/g,
  BatchGetItemCommand: /UnprocessedKeys/g,
  BatchWriteItemCommand: /UnprocessedItems/g,
  SendMessageBatchCommand: /\b(Failed|Successful) = /g,
  DeleteMessageBatchCommand: /\b(Failed|Successful) = /g,
  PutEventsCommand: /Entries = /g,
};

it.each(Object.keys(BATCHES))(
  'a batch of %s is in no file that ignores what was not processed',
  (command) => {
    const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;
    const users = all.flatMap(({ path, text }) => {
      const requests = count(text, new RegExp(`new ${command}\\(`, 'g'));
      return requests === 0 ? [] : [{ path, requests, rests: count(text, BATCHES[command] ?? /$^/) }];
    });
    expect(users).not.toEqual([]);
    expect(users.filter(({ requests, rests }) => rests < requests)).toEqual([]);
  },
);

/** Whether a place reads whom an event names: it may only be written, as a property of a new object. */
function readsRecipient({ node, within }: Place): boolean {
  if (node.type === 'Literal') return node.value === 'onlyTo';
  if (node.type !== 'Identifier' || nameOf(node) !== 'onlyTo') return false;
  const [object, property] = within.slice(-2);
  return object?.type !== 'ObjectExpression' || property?.key !== node || property.shorthand === true;
}

/** Whether a place searches an endpoint's subscriptions. */
function searchesSubscriptions({ node }: Place): boolean {
  if (node.type !== 'MemberExpression') return false;
  const object = Object(node.object);
  const list = object.type === 'MemberExpression' ? nameOf(object.property) : nameOf(object);
  return list === 'events' && ['some', 'includes', 'indexOf', 'find'].includes(nameOf(node.property));
}

it('whom an event is for is decided in one place, the file of `isFor`', () => {
  const faults = sources.filter(({ places }) =>
    places.some((place) => readsRecipient(place) || searchesSubscriptions(place)),
  );
  expect(faults.map(({ path }) => path)).toEqual(['events/events.ts']);
});

/* E-mail has one path: everything that is sent passes the budgets of `notices/notify.ts`. */
describe('e-mail', () => {
  const listUsers = (module: RegExp): string[] =>
    all.flatMap(({ path, loads }) =>
      loads.some((each) => !each.isTypeOnly && module.test(each.module)) ? [path] : [],
    );

  it('is sent by one module, for one worker', () => {
    expect(listUsers(/client-ses/).toSorted()).toEqual([
      'functions/aws/clients.ts',
      'functions/notices/notify.ts',
    ]);
    expect(listUsers(/\/notify\.ts$/)).toEqual(['functions/workers/notify.ts']);
  });

  it('is sent at one place, which has asked for the budget', () => {
    const sends = all.flatMap(({ path, places }) =>
      places
        .filter(({ node }) => node.type === 'MemberExpression')
        .map(({ node }) => `${nameOf(Object(node.object).property)}.${nameOf(node.property)}`)
        .filter((text) => ['mailer.send', 'budgets.find', 'budgets.admit'].includes(text))
        .map((text) => `${path} ${text}`),
    );
    expect(sends.toSorted()).toEqual([
      'functions/notices/notify.ts budgets.admit',
      'functions/notices/notify.ts budgets.find',
      'functions/notices/notify.ts mailer.send',
    ]);
  });

  it('has a budget for each kind, and leaves most of the quota to other organizations', () => {
    expect(Object.keys(MAIL_BUDGETS).toSorted()).toEqual(Object.keys(NOTICES).toSorted());
    const budgets = Object.values(MAIL_BUDGETS).flatMap((budget) => (budget === false ? [] : [budget]));
    const sum = budgets.reduce((total, { organization }) => total + organization, 0);
    expect(sum).toBeLessThan(MAIL_BUDGETS['source.changed'].stage / 100);
  });
});

/** Sends a write to DynamoDB, instead of describing one. */
const SENDS = /(?<![.\w])(?:update|put|remove|removeMany|lease|release|transact)\(/;

interface Part {
  name: string;
  /** The store whose method it is. */
  store: string;
  body: string;
}

/** Functions of a module, and methods of its stores. */
function listParts({ places, text }: Read): Part[] {
  return places.flatMap(({ node, within }) => {
    const value = node.type === 'FunctionDeclaration' ? node : Object(node.value ?? node.init);
    if (!/Function/.test(String(value.type))) return [];
    const store = within.find(({ type }) => type === 'FunctionDeclaration');
    // Without its name, which may be that of a function that sends.
    const body = text.slice(Number(value.start ?? node.start), Number(node.end));
    return [{ name: nameOf(node.key ?? node.id), store: nameOf(store?.id), body }];
  });
}

/** Files with stores: everything but handlers and workers. */
const STORES = sources.filter(({ path }) => /^(?!api|aws|workers)\w+\/[\w-]+\.ts$/.test(path));

/** The methods of a module's stores that write when they are called, themselves or by another function. */
function listWriters(source: Read): string[] {
  const parts = listParts(source);
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
  it.each(sources.filter(({ path }) => path.startsWith('api/')))(
    'writes through its effect only: $path',
    ({ path, text }) => {
      expect(listWrites(text)).toEqual([]);
      const commits = /\bcommit(?:ter)?\b/.test(text);
      expect(commits).toBe(path === 'api/route-handler.ts');
    },
  );

  it('would be found with a write of its own', () => {
    expect(WRITERS).toEqual(expect.arrayContaining(['endpointStateStore.setPace', 'deliveryStore.add']));
    const text = 'const store = deliveryStore(tables.deliveries);\nawait store.add(delivery);';
    expect(listWrites(text)).toEqual(['deliveryStore.add']);
    const inherited =
      'const store = endpointStore(tables.service);\nawait store.setPace(orgId, id, undefined, mark);';
    expect(listWrites(inherited)).toEqual(['endpointStateStore.setPace']);
  });
});
