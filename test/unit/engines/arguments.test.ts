import { describe, expect, it } from 'vitest';
import { readEngines } from '../../engines/arguments.ts';
import { usageError } from '../../support/command-line.ts';

describe('the arguments of the run on other engines', () => {
  it('choose all engines by default', () => {
    expect(readEngines([])).toEqual(['dynamodb-local', 'elasticmq', 'dynoxide']);
  });

  it('choose some engines, each once and in their order', () => {
    const args = ['--only', 'dynoxide', '--only=dynamodb-local', '--only', 'dynoxide'];
    expect(readEngines(args)).toEqual(['dynamodb-local', 'dynoxide']);
  });

  it.each([
    [['--only', 'mysql'], "'mysql' is invalid. It takes dynamodb-local, elasticmq, dynoxide."],
    [['--fast'], "unknown option '--fast'"],
  ])('refuse %j', (args, message) => {
    expect(usageError(() => readEngines(args))).toContain(message);
  });
});
