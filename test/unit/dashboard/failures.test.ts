import { describe, expect, it } from 'vitest';
import {
  failureOf,
  mayHaveHappened,
  mayPass,
  pauseAfter,
  unreachable,
} from '../../../dashboard/src/api/failures.ts';

const answer = (status: number, headers: Record<string, string> = {}) =>
  new Response(null, { status, headers });

describe('an API error', () => {
  it('is read from its envelope', () => {
    const body = { error: { type: 'CONFLICT', message: 'It is disabled.', requestId: 'r-1' } };
    expect(failureOf(answer(409), body)).toMatchObject({
      status: 409,
      type: 'CONFLICT',
      message: 'It is disabled.',
      requestId: 'r-1',
    });
  });

  it('has a request id even when the gateway answered', () => {
    expect(failureOf(answer(502, { 'request-id': 'r-2' }), '<html>')).toMatchObject({
      type: 'UNKNOWN',
      requestId: 'r-2',
    });
  });

  it.each([
    undefined,
    null,
    'text',
    7,
    [],
    { error: null },
    { error: 'x' },
    { error: { type: 1, message: {} } },
  ])('is readable from any body: %j', (body) => {
    expect(failureOf(answer(500), body)).toMatchObject({ status: 500, type: 'UNKNOWN' });
  });

  it('has the faults of each field', () => {
    const fault = { field: 'url', code: 'too_long', message: 'must be at most 2048 characters', limit: 2048 };
    const of = (details: unknown) => failureOf(answer(400), { error: { details } }).details;
    expect(of([fault])).toEqual([fault]);
    expect(of([fault, null, 'x', { ...fault, field: 1 }, { ...fault, code: undefined }])).toEqual([fault]);
    for (const given of [undefined, null, {}, 'text', [[]]]) expect(of(given)).toEqual([]);
  });

  it('says when the user may retry', () => {
    expect(failureOf(answer(429, { 'retry-after': '7' }), {}).retryAfter).toBe(7);
    expect(failureOf(answer(429, { 'retry-after': 'soon' }), {}).retryAfter).toBeUndefined();
  });

  it.each([
    [0, true],
    [400, false],
    [403, false],
    [404, false],
    [409, false],
    [429, true],
    [500, true],
    [503, true],
  ])('is, with status %i, retryable: %s', (status, isWorth) => {
    const failure = status === 0 ? unreachable(new TypeError('offline')) : failureOf(answer(status), {});
    expect(mayPass(failure)).toBe(isWorth);
  });

  it('is retried after the time in the answer, else with growing delays', () => {
    const busy = failureOf(answer(429, { 'retry-after': '42' }), undefined);
    expect([0, 1].map((failures) => pauseAfter(failures, busy))).toEqual([42_000, 42_000]);
    const down = failureOf(answer(503), undefined);
    expect([0, 1, 2, 20].map((failures) => pauseAfter(failures, down))).toEqual([1000, 2000, 4000, 30_000]);
  });

  it.each([
    ['nothing answered', unreachable(new TypeError()), true],
    ['the service failed', failureOf(answer(502), undefined), true],
    ['too much was asked', failureOf(answer(429), undefined), false],
    ['it was refused', failureOf(answer(400), undefined), false],
  ])('says whether the change took effect: %s', (_, failure, expected) => {
    expect(mayHaveHappened(failure)).toBe(expected);
  });
});
