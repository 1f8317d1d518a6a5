import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  DeadlineError,
  describeFailure,
  ResolutionError,
} from '../../../functions/delivery/outbound/agent.ts';
import {
  checkProgram,
  getRetryPolicy,
  MAX_SPEED,
  type Program,
  parseProgram,
  type Step,
  simulate,
} from '../../../functions/delivery/simulation.ts';
import { DEFAULT_RETRY_POLICY } from '../../../functions/delivery/timing.ts';
import { texts } from '../aws/arbitraries.ts';

const TIMEOUT_MS = 10_000;
const FAILURES = ['reset', 'refused', 'dns', 'tls', 'certificate'] as const;
const AT_ONCE: Program = { steps: [{ does: 200, afterMs: 0 }], speed: 1 };

const does = fc.oneof(fc.integer({ min: 200, max: 599 }), fc.constantFrom('timeout' as const, ...FAILURES));
/** A wait in one of its notations. */
const waits = fc.oneof(
  fc.constant({ text: '', afterMs: 0 }),
  fc.integer({ min: 0, max: 60_000 }).map((afterMs) => ({ text: `@${afterMs}ms`, afterMs })),
  fc.integer({ min: 0, max: 60_000 }).map((afterMs) => ({ text: `@${afterMs / 1000}s`, afterMs })),
  fc.integer({ min: 0, max: 60 }).map((second) => ({ text: `@${second}.000s`, afterMs: second * 1000 })),
);
const steps: fc.Arbitrary<{ text: string; step: Step }> = fc
  .record({ does, wait: waits })
  .map(({ does, wait }) => ({ text: `${does}${wait.text}`, step: { does, afterMs: wait.afterMs } }));
const speeds = fc.integer({ min: 1, max: MAX_SPEED });

const aUrl = (parameters: Record<string, string>): URL => {
  const url = new URL('https://example.com/hooks?team=7');
  for (const [name, value] of Object.entries(parameters)) url.searchParams.append(name, value);
  return url;
};

describe('simulation program', () => {
  it('is parsed as it was written, anywhere in the query', () => {
    const written = fc.record({
      steps: fc.array(steps, { minLength: 1, maxLength: 50 }),
      speed: fc.option(speeds, { nil: undefined }),
      comma: fc.constantFrom(',', ', ', ' ,'),
      escaped: fc.boolean(),
    });
    fc.assert(
      fc.property(written, ({ steps, speed, comma, escaped }) => {
        const text = steps.map((step) => step.text).join(escaped ? comma : ',');
        const url = escaped
          ? aUrl({ simulate: text, other: 'x', ...(speed && { 'simulate-speed': String(speed) }) })
          : new URL(
              `https://example.com/?${speed ? `simulate-speed=${speed}&` : ''}simulate=${text}&other=x`,
            );
        const program = { steps: steps.map(({ step }) => step), speed: speed ?? 1 };
        expect(checkProgram(url)).toEqual({ ok: true, program });
        expect(parseProgram(url.href)).toEqual(program);
      }),
    );
  });

  it.each<[string, Record<string, string>]>([
    ['no answer', { simulate: '' }],
    ['an empty answer at the end', { simulate: '503,' }],
    ['nothing but a comma', { simulate: ',' }],
    ['an interim status', { simulate: '199' }],
    ['an invalid status', { simulate: '600' }],
    ['a status of four digits', { simulate: '2000' }],
    ['a status in non-ASCII digits', { simulate: '٢٠٠' }],
    ['an unknown word', { simulate: 'hang' }],
    ['a word in capitals', { simulate: 'TIMEOUT' }],
    ['the name of an object property', { simulate: 'constructor' }],
    ['an empty wait', { simulate: '200@' }],
    ['a wait without a unit', { simulate: '200@3' }],
    ['a wait in minutes', { simulate: '200@1m' }],
    ['a negative wait', { simulate: '200@-1s' }],
    ['a wait of more than a minute', { simulate: '200@60.001s' }],
    ['a wait of more than a minute in milliseconds', { simulate: '200@60001ms' }],
    ['a wait with an exponent', { simulate: '200@1e1s' }],
    ['two waits', { simulate: '200@1s@2s' }],
    ['a wait and no answer', { simulate: '@3s' }],
    ['one wrong answer among right ones', { simulate: '503,200@3s,nothing,200' }],
    ['more than fifty answers', { simulate: Array.from({ length: 51 }, () => '503').join(',') }],
    ['an empty speed', { 'simulate-speed': '' }],
    ['a speed of 0', { 'simulate-speed': '0' }],
    ['a negative speed', { 'simulate-speed': '-1' }],
    ['a fractional speed', { 'simulate-speed': '1.5' }],
    ['a speed beyond the highest', { 'simulate-speed': String(MAX_SPEED + 1) }],
    ['a speed with an exponent', { 'simulate-speed': '1e3' }],
    ['a speed in words', { 'simulate-speed': 'fast' }],
  ])('is rejected with %s, and ignored in a stored URL', (_what, parameters) => {
    const url = aUrl(parameters);
    expect(checkProgram(url)).toEqual({
      ok: false,
      code: 'invalid_format',
      problem: expect.stringMatching(/^url (must|may) /),
    });
    expect(parseProgram(url.href)).toEqual(AT_ONCE);
  });

  it.each(['simulate', 'simulate-speed'])('is rejected with %s twice', (name) => {
    const url = aUrl({ [name]: '200' });
    url.searchParams.append(name, '200');
    expect(checkProgram(url)).toMatchObject({ ok: false, problem: expect.stringContaining('once') });
  });

  it('answers 200 at once for a stored text that is no URL', () => {
    fc.assert(
      fc.property(texts, (text) => {
        fc.pre(!URL.canParse(text));
        expect(parseProgram(text)).toEqual(AT_ONCE);
      }),
    );
  });
});

describe('attempt at a simulated receiver', () => {
  it('ends by the deadline, and times out exactly when there was no answer before', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 70_000 }), ({ step }, timeoutMs) => {
        const result = simulate({ steps: [step], speed: 1 }, 1, timeoutMs);
        const isLate = step.does === 'timeout' || step.afterMs >= timeoutMs;
        expect(result.afterMs).toBe(isLate ? timeoutMs : step.afterMs);
        const late = describeFailure(new DeadlineError(), timeoutMs);
        if (isLate) expect(result).toEqual({ afterMs: timeoutMs, ...late });
        else expect(result).not.toMatchObject(late);
      }),
    );
  });

  it.each([
    [TIMEOUT_MS - 1, { afterMs: TIMEOUT_MS - 1, status: 204 }],
    [TIMEOUT_MS, { afterMs: TIMEOUT_MS, error: 'timed out after 10 s', errorCode: 'timeout' }],
    [TIMEOUT_MS + 1, { afterMs: TIMEOUT_MS, error: 'timed out after 10 s', errorCode: 'timeout' }],
  ])('answered after %i ms has the expected result', (afterMs, result) => {
    expect(simulate({ steps: [{ does: 204, afterMs }], speed: 1 }, 1, TIMEOUT_MS)).toEqual(result);
  });

  it.each<[(typeof FAILURES)[number], Error]>([
    ['reset', Object.assign(new Error(), { code: 'ECONNRESET' })],
    ['refused', Object.assign(new Error(), { code: 'ECONNREFUSED' })],
    ['dns', new ResolutionError(true)],
    ['tls', Object.assign(new Error(), { code: 'EPROTO' })],
    ['certificate', Object.assign(new Error(), { code: 'CERT_HAS_EXPIRED' })],
  ])('that fails by %s has the error of a real failure', (word, error) => {
    const result = simulate({ steps: [{ does: word, afterMs: 3 }], speed: 1 }, 1, TIMEOUT_MS);
    expect(result).toEqual({ afterMs: 3, ...describeFailure(error, TIMEOUT_MS) });
  });
});

describe('retry policy', () => {
  it('has the same attempts, and in a sandbox waits divided by the speed', () => {
    fc.assert(
      fc.property(speeds, (speed) => {
        const { baseSeconds, capSeconds, maxAttempts } = DEFAULT_RETRY_POLICY;
        const url = `https://example.com/?simulate-speed=${speed}`;
        expect(getRetryPolicy(DEFAULT_RETRY_POLICY, { generation: 0 }, url)).toEqual(DEFAULT_RETRY_POLICY);
        expect(getRetryPolicy(DEFAULT_RETRY_POLICY, { generation: 1 }, url)).toEqual({
          baseSeconds: baseSeconds / speed,
          capSeconds: capSeconds / speed,
          maxAttempts,
        });
      }),
    );
    const url = 'https://example.com/';
    expect(getRetryPolicy(DEFAULT_RETRY_POLICY, { generation: 1 }, url)).toEqual(DEFAULT_RETRY_POLICY);
  });
});
