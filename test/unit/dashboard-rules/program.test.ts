import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  delayFrom,
  FAILURES,
  MAX_DELAY_MS,
  MAX_SPEED,
  MAX_STEPS,
  moved,
  type Program,
  readProgram,
  type Step,
  statusFrom,
  withProgram,
} from '../../../dashboard/src/pages/sandbox/program.ts';
import { checkProgram } from '../../../functions/delivery/simulation.ts';

const step = fc.record<Step>({
  does: fc.oneof(fc.integer({ min: 200, max: 599 }), fc.constantFrom(...FAILURES)),
  afterMs: fc.integer({ min: 0, max: MAX_DELAY_MS }),
});
const program = fc.record<Program>({
  steps: fc.array(step, { minLength: 1, maxLength: MAX_STEPS }),
  speed: fc.integer({ min: 1, max: MAX_SPEED }),
});
/** URLs with their own parameters, some of them of a program, some malformed. */
const parameter = fc.constantFrom(
  'a=1',
  'b',
  'simulate=200',
  'simulate=600',
  'simul%61te=503',
  'simulate-speed=60',
  'simulate-speed=0',
  'simulates=1',
  'q=%2C%3D',
  '',
);
const address = fc
  .tuple(
    fc.constantFrom('https://example.com', 'https://example.com/hooks'),
    fc.array(parameter, { maxLength: 5 }),
  )
  .map(([path, parameters]) => (parameters.length === 0 ? path : `${path}?${parameters.join('&')}`));
/** Possible input for the parameters: the letters of the grammar, in any order. */
const typed = fc.string({ unit: fc.constantFrom(...'0123456789,@.ms timeoutreset+%2C'), maxLength: 24 });

describe('the program in a URL', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(address, program, (written, wanted) => {
        expect(readProgram(withProgram(written, wanted))).toEqual({ ok: true, program: wanted });
      }),
    );
  });

  it('keeps the other parameters, in their order', () => {
    expect(
      withProgram('https://example.com/hooks?a=1&simulate=503&b=%2C&simulate-speed=2&simulates=x', {
        steps: [
          { does: 503, afterMs: 0 },
          { does: 'timeout', afterMs: 0 },
          { does: 200, afterMs: 3000 },
          { does: 200, afterMs: 250 },
        ],
        speed: 1000,
      }),
    ).toBe(
      'https://example.com/hooks?a=1&b=%2C&simulates=x&simulate=503,timeout,200@3s,200@250ms&simulate-speed=1000',
    );
  });

  it('matches what the service reads in it, and is malformed where the service refuses it', () => {
    fc.assert(
      fc.property(address, typed, typed, (written, steps, speed) => {
        for (const text of [
          written,
          `https://example.com/?simulate=${steps}`,
          `https://example.com/?simulate=200&simulate-speed=${speed}`,
        ]) {
          const [here, service] = [readProgram(text), checkProgram(new URL(text))];
          expect(here.ok).toBe(service.ok);
          if (here.ok && service.ok) expect(here.program).toEqual(service.program);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('may have as many steps as the service permits', () => {
    const of = (count: number) => `https://example.com/?simulate=${Array(count).fill('503').join(',')}`;
    expect(readProgram(of(MAX_STEPS)).ok).toBe(true);
    expect(readProgram(of(MAX_STEPS + 1))).toEqual({ ok: false, problem: 'many' });
    expect(checkProgram(new URL(of(MAX_STEPS + 1))).ok).toBe(false);
  });

  it.each([
    ['hooks', 'address'],
    ['http://example.com/hooks', 'address'],
    ['https://example.com/?simulate=200&simulate=503', 'twice'],
    ['https://example.com/?simulate=604', 'step'],
    ['https://example.com/?simulate=200@61s', 'step'],
    ['https://example.com/?simulate=', 'step'],
    ['https://example.com/?simulate-speed=3601', 'speed'],
  ])('is refused with %s: %s', (text, problem) => {
    expect(readProgram(text)).toEqual({ ok: false, problem });
  });
});

describe('steps', () => {
  it('are all kept when one is moved', () => {
    const places = fc.integer({ min: -2, max: 6 });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 5 }), places, places, (steps, from, to) => {
        const after = moved(steps, from, to);
        expect(new Set(after)).toEqual(new Set(steps));
        expect(after).toHaveLength(steps.length);
        const isPlace = (place: number) => place >= 0 && place < steps.length;
        if (isPlace(from) && isPlace(to)) expect(after[to]).toBe(steps[from]);
        else expect(after).toBe(steps);
      }),
    );
  });
});

describe('typed text', () => {
  it.each([
    ['200', 200],
    [' 418 ', 418],
    ['599', 599],
    ['199', undefined],
    ['600', undefined],
    ['2e2', undefined],
    ['', undefined],
  ])('%j is the status %j', (text, status) => {
    expect(statusFrom(text)).toBe(status);
  });

  it.each([
    ['', 0],
    ['3', 3000],
    ['0,25', 250],
    ['1.001', 1001],
    ['60', 60_000],
    ['60.001', undefined],
    ['-1', undefined],
    ['3s', undefined],
  ])('%j is a wait of %j ms', (text, ms) => {
    expect(delayFrom(text)).toBe(ms);
  });
});
