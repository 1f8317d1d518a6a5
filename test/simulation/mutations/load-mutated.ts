import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Mutation } from './mutation.ts';

const ROOT = join(import.meta.dirname, '../../..');

/**
 * Applies a mutation to the text of its files.
 * @returns the changed sources by URL
 * @throws Error when a text to change does not occur exactly once
 */
export function applyMutation({ also = [], ...first }: Mutation): Map<string, string> {
  const sources = new Map<string, string>();
  for (const { file, find, replace } of [first, ...also]) {
    const path = join(ROOT, file);
    const { href } = pathToFileURL(path);
    const parts = (sources.get(href) ?? readFileSync(path, 'utf8')).split(find);
    if (parts.length !== 2)
      throw new Error(`"${find}" occurs ${parts.length - 1} times in ${file}, and must once`);
    sources.set(href, parts.join(replace));
  }
  return sources;
}

/** A name that is read or called: no declaration, member, key, quoted word or part of a number. */
const NAME = /(?<![\w.$'`]|const )[A-Za-z_]\w*(?!\w|\s*[:'`])/g;
const KEYWORDS = new Set(['false', 'new', 'throw', 'true', 'unknown']);

/** Names in a mutation that its file does not contain, for instance after a rename. */
export function findUnknownNames(mutation: Mutation): string[] {
  const sources = [...applyMutation(mutation).values()];
  const isUsedElsewhere = (name: string): boolean =>
    sources.some((source) => (source.match(new RegExp(`\\b${name}\\b`, 'g')) ?? []).length > 1);
  return [mutation, ...(mutation.also ?? [])]
    .flatMap(({ replace }) => replace.replaceAll(/'[^']*'/g, "''").match(NAME) ?? [])
    .filter((name) => !KEYWORDS.has(name) && !(name in globalThis) && !isUsedElsewhere(name));
}

/** Modules that this thread loads from now on have the changed sources. */
export function loadMutated(mutation: Mutation): void {
  const sources = applyMutation(mutation);
  registerHooks({
    load(url, context, nextLoad) {
      const source = sources.get(url);
      return source === undefined
        ? nextLoad(url, context)
        : { format: 'module-typescript', source, shortCircuit: true };
    },
  });
}
