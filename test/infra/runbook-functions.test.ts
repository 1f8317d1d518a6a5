import { describe, expect, it } from 'vitest';
import { runbookPages } from '../support/runbooks.ts';
import { all, nameOf, ourFunctions, references, resourcesOf } from './reading.ts';
import { synthesize } from './synthesize.ts';

describe('runbooks', () => {
  const template = synthesize();
  const resources = resourcesOf(template);

  /** By function: `live`, `newest` or an empty text for the target of a mapping. */
  const qualifiers = new Map(
    ourFunctions(template).map(([id, fn]) => [
      nameOf(fn),
      all(template, 'AWS::Lambda::EventSourceMapping').flatMap(([, { Properties }]) => {
        const [target = ''] = references(Properties.FunctionName);
        if (target === id) return [''];
        const alias = resources.get(target)?.Properties;
        return references(alias?.FunctionName).includes(id) ? [String(alias?.Name)] : [];
      }),
    ]),
  );

  it('name functions that exist', () => {
    const functions = new Set(ourFunctions(template).map(([, fn]) => nameOf(fn)));
    const named = runbookPages().flatMap(({ name, text }) =>
      [...text.matchAll(/(?:conversation-service-\$STAGE-|log_of )([a-z]+(?:-[a-z]+)*)["):]/g)].map(
        ([, fn = '']) => ({ page: name, fn }),
      ),
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter(({ fn }) => !functions.has(fn))).toEqual([]);
  });

  it('name the alias of a mapping, because Lambda does not list the mapping for the function alone', () => {
    const commands = runbookPages().flatMap(({ name, text }) =>
      [
        ...text.matchAll(
          /event-source-mappings? --function-name "conversation-service-\$STAGE-([a-z-]+)(?::([^"]+))?"/g,
        ),
      ].map(([, fn = '', alias = '']) => ({ page: name, fn, alias })),
    );
    expect(commands.length).toBeGreaterThan(4);
    for (const { page, fn, alias } of commands) {
      const expected = new Set(qualifiers.get(fn));
      const named = alias === '$ALIAS' ? new Set(['live', 'newest']) : new Set([alias]);
      expect(named, `${page}: ${fn}`).toEqual(expected);
    }
  });
});
