import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseState, renderState, stateFileIn } from '../../../../packages/cli/src/forward/state-file.ts';

const KEY = 'ck_sandbox_k0y';
const connection = { baseUrl: 'http://localhost:3000', key: KEY, to: new URL('http://localhost:4000/hooks') };

describe('the saved position', () => {
  it('is read back as saved', () => {
    const id = fc.string({ minLength: 1 }).filter((text) => text !== '__proto__');
    const position = fc
      .record({ floor: fc.string(), forwarded: fc.uniqueArray(fc.string()) })
      .map(({ floor, forwarded }) => ({ floor, forwarded: new Set(forwarded) }));
    const positions = fc.array(fc.tuple(id, position)).map((entries) => new Map(entries));
    const lookedAt = fc.option(fc.nat(), { nil: undefined });
    fc.assert(
      fc.property(fc.record({ lookedAt, positions }), (state) => {
        expect(parseState(renderState(state))).toEqual(state);
      }),
    );
  });

  it.each(['', '{}', 'null', '{"version":2,"endpoints":{}}', '{"version":1,"endpoints":{"whk_1":[]}}'])(
    'is not read from %j',
    (text) => {
      expect(parseState(text)).toBeUndefined();
    },
  );

  it('has a file of its own for each API, key and target, whose name shows none of them', () => {
    const file = stateFileIn('/project/.local', connection);
    expect(file).toMatch(/^\/project\/\.local\/forward\/[0-9a-f]{32}\.json$/);
    expect(stateFileIn('/project/.local', { ...connection })).toBe(file);
    const others = [
      { ...connection, baseUrl: 'http://localhost:3001' },
      { ...connection, key: 'ck_sandbox_other' },
      { ...connection, to: new URL('http://localhost:4001/hooks') },
    ];
    for (const other of others) expect(stateFileIn('/project/.local', other)).not.toBe(file);
  });
});
