import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compare, lineOf, readDifferences } from '../../engines/differences.ts';

const documentWith = (...lines: string[]): string =>
  [
    '# Other engines',
    '',
    '## Known differences',
    '',
    '| Engine | Check | Reason |',
    '|---|---|---|',
    ...lines,
    '',
    'Text.',
  ].join('\n');

const difference = {
  engine: 'elasticmq',
  check: 'queue/a.test.ts › sends',
  reason: 'It has no groups.',
} as const;
const failed = (name: string) => ({ name, passed: false });
const passed = (name: string) => ({ name, passed: true });

describe('the table of known differences', () => {
  it('has engine, check and reason of each line', () => {
    expect(
      readDifferences(documentWith('| elasticmq | `queue/a.test.ts › sends` | It has no groups. |')),
    ).toEqual([difference]);
  });

  it('may be empty', () => {
    expect(readDifferences(documentWith())).toEqual([]);
  });

  it('accepts the line that a failed check prints', () => {
    const line = lineOf('dynoxide', 'store/b.test.ts › a|b', 'Why.');
    expect(readDifferences(documentWith(line))).toEqual([
      { engine: 'dynoxide', check: 'store/b.test.ts › a|b', reason: 'Why.' },
    ]);
  });

  it.each(['| mysql | `a` | Why. |', '| elasticmq | a | Why. |', '| elasticmq | `a` |  |'])(
    'refuses the line %s',
    (line) => {
      expect(() => readDifferences(documentWith(line))).toThrow(line);
    },
  );

  it('is readable in docs/reference/engines.md', () => {
    const document = readFileSync(join(import.meta.dirname, '../../../docs/reference/engines.md'), 'utf8');
    expect(() => readDifferences(document)).not.toThrow();
  });
});

describe('a comparison with the table', () => {
  it('separates expected failures from unexpected ones', () => {
    const checks = [failed(difference.check), failed('new'), passed('fine')];
    expect(compare('elasticmq', checks, [difference])).toEqual({
      passed: 1,
      expected: [failed(difference.check)],
      unexpected: [failed('new')],
      obsolete: [],
    });
  });

  it.each([
    ['passes', [passed(difference.check)]],
    ['does not exist', []],
  ])('reports a line whose check %s', (_, checks) => {
    expect(compare('elasticmq', checks, [difference]).obsolete).toEqual([difference]);
  });

  it('treats a line that ends in an asterisk as a prefix of check names', () => {
    const several = { ...difference, check: 'queue/a.test.ts › *' };
    const checks = [failed('queue/a.test.ts › sends'), failed('queue/a.test.ts › takes'), failed('queue/b')];
    expect(compare('elasticmq', checks, [several])).toMatchObject({
      expected: checks.slice(0, 2),
      unexpected: [failed('queue/b')],
      obsolete: [],
    });
    expect(compare('elasticmq', [failed('queue/b')], [several]).obsolete).toEqual([several]);
  });

  it('ignores the lines of other engines', () => {
    expect(compare('dynoxide', [failed(difference.check)], [difference])).toMatchObject({
      expected: [],
      unexpected: [failed(difference.check)],
      obsolete: [],
    });
  });
});
