import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readEngines } from '../../engines/arguments.ts';
import { compare, lineOf, readDifferences } from '../../engines/differences.ts';
import { VERSIONS } from '../../engines/names.ts';
import { contractFilesNeeding } from '../../engines/test-files.ts';
import { usageError } from '../../support/command-line.ts';

describe('the arguments of the run on other engines', () => {
  it('select all engines by default', () => {
    expect(readEngines([])).toEqual(['dynamodb-local', 'elasticmq', 'dynoxide']);
  });

  it('select some engines, each once and in order', () => {
    const args = ['--only', 'dynoxide', '--only=dynamodb-local', '--only', 'dynoxide'];
    expect(readEngines(args)).toEqual(['dynamodb-local', 'dynoxide']);
  });

  it.each([
    [['--only', 'mysql'], "'mysql' is invalid. It takes dynamodb-local, elasticmq, dynoxide."],
    [['--fast'], "unknown option '--fast'"],
  ])('are refused when they are %j', (args, message) => {
    expect(usageError(() => readEngines(args))).toContain(message);
  });
});

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

it.each(['dynamodb-local', 'elasticmq'] as const)(
  'the version of %s is that of its Maven project',
  (engine) => {
    const pom = readFileSync(join(import.meta.dirname, `../../engines/maven/${engine}.xml`), 'utf8');
    const [, dependency = ''] = pom.split('<dependency>');
    expect(dependency).toContain(`<version>${VERSIONS[engine]}</version>`);
  },
);

it('contract test files are selected by the engine that they import, directly or not', () => {
  const queues = contractFilesNeeding(['sqs']);
  expect(queues).toContain('test/contract/queue/delivery-queues.test.ts');
  expect(queues).not.toContain('test/contract/store/usage.test.ts');
  const tables = contractFilesNeeding(['dynamoDb']);
  expect(tables).toContain('test/contract/store/delivery-states.test.ts');
  expect(tables).not.toContain('packages/aws-local/test/contract/sqs.test.ts');
});
