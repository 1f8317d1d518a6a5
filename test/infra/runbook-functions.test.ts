import { describe, expect, it } from 'vitest';
import { runbookPages } from '../support/runbooks.ts';
import { all, nameOf, ourFunctions, references, resourcesOf } from './reading.ts';
import { stacksOf, synthesize } from './synthesize.ts';

/** As long as what CloudFormation adds to a name. */
const SUFFIX = 'ABCDEFGHIJKLM';

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

  /** CloudFormation cuts names that it makes to the type's length (API references of the services). */
  it.each([
    ['alarm-name-prefix', 'AWS::CloudWatch::Alarm', 255],
    ['log-group-name-prefix', 'AWS::Logs::LogGroup', 512],
  ])('list by --%s, because names of the type %s are whole', (_, type, longest) => {
    for (const { nested, content } of stacksOf({ stage: 'staging' })) {
      const stack = `${nested?.parent}-${nested?.logicalId}-${SUFFIX}`;
      for (const [id, resource] of Object.entries(Object(content.Resources)))
        if (Object(resource).Type === type)
          expect(`${stack}-${id}-${SUFFIX}`.length, id).toBeLessThanOrEqual(longest);
    }
  });

  it('list by no other prefix: names of rules, roles and queues are cut', () => {
    const options = runbookPages().flatMap(({ text }) => text.match(/--[a-z-]*prefix(?= )/g) ?? []);
    expect(new Set(options)).toEqual(new Set(['--alarm-name-prefix', '--log-group-name-prefix']));
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
