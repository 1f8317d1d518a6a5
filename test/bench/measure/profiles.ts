import { mkdirSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { functionBuilds } from '../../../lib/infra/bundle.ts';

/* CPU profiles of functions: their frames by source file, and processor time by cause. */

const ROOT = join(import.meta.dirname, '../../..');

interface Frame {
  functionName: string;
  url: string;
  lineNumber: number;
  columnNumber: number;
}

/** V8's format, with the processor time that the process used meanwhile. */
export interface CpuProfile {
  nodes: { id: number; callFrame: Frame & { scriptId: string }; hitCount?: number; children?: number[] }[];
  functionName: string;
  /** Of the thread that runs JavaScript. */
  mainMs: number;
  /** Of V8's threads: compilation and garbage collection. */
  otherThreadsMs: number;
}

/** The first cause whose files match is a frame's. Frames without a file have the cause of their caller. */
const CAUSES: readonly (readonly [cause: string, files: RegExp])[] = [
  [
    'HTTP and sockets',
    /^node:.*(http|net|tls|stream|dns)|node-http-handler|functions\/(delivery\/outbound\/|aws\/(clients|sdk-parts))/,
  ],
  ['event loop, timers', /^node:internal\/(process|async_hooks|timers|event|util)|^node:(timers|events)/],
  ['signing', /signature-v4|httpAuthSchemes|checksum|hash-node/],
  ['marshalling', /lib-dynamodb|util-dynamodb/],
  ['serialization and parsing', /@(aws-sdk|smithy)\/.*(protocols|serde|schema|codec|checksum)/],
  ['SDK client and middleware', /@(aws-sdk|smithy)\//],
  ['validation (zod)', /\/zod\//],
  ['middy', /@middy\//],
  ['logging', /functions\/aws\/log/],
  ['metrics', /functions\/aws\/metrics/],
  ['runtime client', /aws-lambda-ric|aws-local|test\/bench/],
  ['own code', /^functions\//],
];
const COLLECTION = 'garbage collection';
const THREADS = 'other threads of V8';
const PROGRAM = 'native code without a caller';

/** Causes in the order of the report. */
export const CAUSE_NAMES = [...CAUSES.map(([cause]) => cause), COLLECTION, THREADS, PROGRAM];

const causeOf = (url: string): string | undefined => CAUSES.find(([, files]) => files.test(url))?.[0];

/**
 * Builds functions again with source maps; the code is the same.
 * @returns finds the source of a frame of a bundle; other frames stay as they are
 */
export async function sourceFinder(functions: readonly string[], directory: string) {
  const [options] = functionBuilds(directory);
  if (options === undefined) throw new Error('there are no builds of functions');
  const entryPoints = Object.fromEntries(
    Object.entries(Object(options.entryPoints)).filter(([out]) => functions.includes(dirname(out))),
  ) as Record<string, string>;
  await build({ ...options, entryPoints, sourcemap: 'external' });
  const maps = new Map<string, SourceMap>();

  function mapOf(functionName: string, url: string): SourceMap {
    const cached = maps.get(functionName);
    if (cached !== undefined) return cached;
    const file = join(directory, functionName, 'index.mjs');
    if (readFileSync(fileURLToPath(url), 'utf8') !== readFileSync(file, 'utf8'))
      throw new Error(`${functionName} runs other code than the checkout's`);
    const map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
    maps.set(functionName, map);
    return map;
  }

  return (functionName: string, frame: Frame): Frame => {
    if (!frame.url.endsWith('/index.mjs') || frame.url.includes('/node_modules/'))
      return { ...frame, url: frame.url.startsWith('file:') ? shorten(fileURLToPath(frame.url)) : frame.url };
    const entry = mapOf(functionName, frame.url).findEntry(frame.lineNumber, frame.columnNumber);
    if (!('originalSource' in entry)) return frame;
    return {
      // Missing in the type: the name in the source, where it differs.
      functionName: Object(entry).name ?? frame.functionName,
      url: shorten(resolve(join(directory, functionName), entry.originalSource)),
      lineNumber: entry.originalLine,
      columnNumber: entry.originalColumn,
    };
  };
}

const shorten = (file: string): string => relative(ROOT, file).replace(/^.*node_modules\//, 'node_modules/');

/** A sampled stack, from its root, and its processor time. */
interface Stack {
  frames: string[];
  cause: string;
  ms: number;
}

/** The stacks of a profile with their processor time, without idle time. */
export function stacksOf({ nodes, mainMs, otherThreadsMs }: CpuProfile): Stack[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const stacks: (Omit<Stack, 'ms'> & { hits: number })[] = [];
  const visit = (id: number, above: string[], causeAbove: string): void => {
    const node = byId.get(id);
    if (node === undefined || node.callFrame.functionName === '(idle)') return;
    const { functionName, url } = node.callFrame;
    const isCollection = functionName === '(garbage collector)';
    const cause = isCollection ? COLLECTION : (causeOf(url) ?? causeAbove);
    const frames =
      functionName === '(root)' ? above : [...above, `${functionName || '(anonymous)'} ${url}`.trimEnd()];
    if ((node.hitCount ?? 0) > 0) stacks.push({ frames, cause, hits: node.hitCount ?? 0 });
    for (const child of node.children ?? []) visit(child, frames, cause);
  };
  visit(nodes[0]?.id ?? 0, [], PROGRAM);
  const hits = stacks.reduce((sum, stack) => sum + stack.hits, 0);
  return [
    ...stacks.map((stack) => ({ ...stack, ms: (stack.hits / hits) * mainMs })),
    { frames: [THREADS], cause: THREADS, ms: otherThreadsMs },
  ];
}

/** Less than this share of a function is left out of a flame graph. */
const LEAST_SHARE = 0.002;

/**
 * The stacks of functions for https://www.speedscope.app.
 * @param perUnit by which times are divided
 */
export function toSpeedscope(functions: ReadonlyMap<string, readonly Stack[]>, perUnit: number): string {
  const frames = new Map<string, number>();
  const indexOf = (name: string): number => {
    const index = frames.get(name) ?? frames.size;
    frames.set(name, index);
    return index;
  };
  const profiles = [...functions].map(([name, stacks]) => {
    const weights = new Map<string, number>();
    const total = stacks.reduce((sum, { ms }) => sum + ms, 0);
    for (const { frames: all, ms } of stacks) {
      const key = all.map(indexOf).join(' ');
      weights.set(key, (weights.get(key) ?? 0) + ms);
    }
    const shown = [...weights]
      .filter(([, ms]) => ms >= total * LEAST_SHARE)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const round = (ms: number) => Number((ms / perUnit).toFixed(4));
    return {
      type: 'sampled',
      name,
      unit: 'milliseconds',
      startValue: 0,
      endValue: round(shown.reduce((sum, [, ms]) => sum + ms, 0)),
      samples: shown.map(([key]) => key.split(' ').map(Number)),
      weights: shown.map(([, ms]) => round(ms)),
    };
  });
  return JSON.stringify({
    $schema: 'https://www.speedscope.app/file-format-schema.json',
    shared: { frames: [...frames.keys()].map((name) => ({ name })) },
    profiles,
  });
}

/** Makes the directory of profiles. */
export function profileDirectory(parent: string): string {
  const directory = join(parent, 'profiles');
  mkdirSync(directory);
  return directory;
}
