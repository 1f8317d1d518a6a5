import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { text } from '../../../functions/api/fields.ts';

const Text = text(100);
/** Unicode, general category Cc: C0, delete and C1. */
const CONTROLS = [...Array(0x20).keys(), 0x7f, ...Array.from({ length: 0x20 }, (_, index) => 0x80 + index)];
const SPACING = ['\t', '\n', '\r'];

describe('text field', () => {
  it('rejects control characters other than tabs and newlines', () => {
    for (const code of CONTROLS) {
      const given = `a${String.fromCharCode(code)}b`;
      const isAllowed = SPACING.includes(String.fromCharCode(code));
      expect([code, Text.safeParse(given).success]).toEqual([code, isAllowed]);
    }
    expect(Text.safeParse('\u001b[31m').error?.issues).toMatchObject([
      { message: 'must not have control characters other than tab, line feed and carriage return' },
    ]);
  });

  it('accepts all other characters of UTF-8', () => {
    const points = fc.integer({ min: 0xa0, max: 0x10ffff }).filter((code) => code < 0xd800 || code > 0xdfff);
    fc.assert(
      fc.property(fc.array(points, { minLength: 1, maxLength: 40 }), (codes) => {
        expect(Text.safeParse(String.fromCodePoint(...codes)).success).toBe(true);
      }),
    );
  });

  it('counts characters as JSON Schema does, in code points', () => {
    for (const character of ['a', 'é', '漢', '🙂', '𠀀']) {
      expect(Text.safeParse(character.repeat(100)).success).toBe(true);
      expect(Text.safeParse(character.repeat(101)).error?.issues).toMatchObject([
        { code: 'too_big', origin: 'string', maximum: 100 },
      ]);
    }
    expect(z.toJSONSchema(Text)).toMatchObject({ minLength: 1, maxLength: 100 });
  });
});
