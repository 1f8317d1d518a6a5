import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkProgram } from '../../../functions/delivery/simulation.ts';
import { valuesOf } from '../../fuzz/values.ts';

describe('generated URLs', () => {
  it('often have a program for a simulated receiver, valid or not', () => {
    const texts = fc.sample(valuesOf({ type: 'string', format: 'uri' }), { numRuns: 500, seed: 1 });
    const programs = texts.flatMap((text) => {
      const url = URL.parse(String(text));
      return url?.searchParams.has('simulate') ? [checkProgram(url).ok] : [];
    });
    for (const right of [true, false])
      expect(programs.filter((ok) => ok === right).length).toBeGreaterThan(50);
  });
});
