import { describe, expect, it } from 'vitest';
import { dynoxideBinary } from '../../src/engines/dynoxide.ts';

describe('the program of the embedded DynamoDB', () => {
  it('is the one that DYNOXIDE_BIN names', () => {
    expect(dynoxideBinary({ DYNOXIDE_BIN: process.execPath })).toBe(process.execPath);
  });

  it.each([
    [
      'DYNOXIDE_BIN names none',
      { DYNOXIDE_BIN: '/nowhere/dynoxide' },
      /^There is no program \/nowhere\/dynoxide/,
    ],
    ['the platform has no package', {}, /^No DynamoDB is installed for plan9-mips/],
  ])(
    'is missing when %s: one sentence names both ways out, with their commands',
    (_, environment, problem) => {
      const find = () => dynoxideBinary(environment, 'plan9-mips');
      expect(find).toThrow(problem);
      expect(find).toThrow(
        /^[^\n]+: set DYNOXIDE_BIN .*"cargo install [^"]+".*, or DYNAMODB_ENDPOINT .*"docker run [^\n]+"$/,
      );
    },
  );
});
