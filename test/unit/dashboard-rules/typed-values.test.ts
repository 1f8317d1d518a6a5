import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { percentFrom } from '../../../dashboard/src/pages/settings/percent.ts';
import { csvOf } from '../../../dashboard/src/pages/usage/csv.ts';
import { Percentage } from '../../../functions/tenancy/tenant.ts';

describe('a typed percentage', () => {
  it.each([
    ['0', 0],
    ['20', 20],
    ['12.5', 12.5],
    ['12,25', 12.25],
    [' 100 ', 100],
    ['100.01', undefined],
    ['12.345', undefined],
    ['-1', undefined],
    ['1e1', undefined],
    ['', undefined],
    ['twenty', undefined],
  ])('%j is %j', (text, percent) => {
    expect(percentFrom(text)).toBe(percent);
  });

  it('is one that the service accepts', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789.,'), maxLength: 7 }), (text) => {
        const percent = percentFrom(text);
        if (percent !== undefined) expect(Percentage.safeParse(percent).success).toBe(true);
      }),
    );
  });
});

describe('comma-separated values', () => {
  it('quote text that would be parsed as something else', () => {
    expect(
      csvOf([
        ['Month', 'a,b', 'say "x"', 'two\nlines'],
        [2026, 1],
      ]),
    ).toBe('Month,"a,b","say ""x""","two\nlines"\r\n2026,1\r\n');
  });
});
