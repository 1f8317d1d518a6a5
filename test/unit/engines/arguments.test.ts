import { describe, expect, it } from 'vitest';
import { readEngines } from '../../engines/arguments.ts';
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
