import { describe, expect, it } from 'vitest';
import { retryOnConflict } from '../../../functions/http/api.ts';
import { type Reply, success } from '../../../functions/http/reply.ts';

/** An attempt that conflicts this many times. */
function overtaken(times: number) {
  let attempts = 0;
  const attempt = async (again: () => Promise<Reply>): Promise<Reply> => {
    attempts += 1;
    return attempts > times ? success(`attempt ${attempts}`) : again();
  };
  return { attempt, attempts: () => attempts };
}

describe('retryOnConflict', () => {
  it.each([0, 1, 2, 3])('retries after %i conflicts, and returns the last reply', async (times) => {
    const { attempt, attempts } = overtaken(times);
    expect(await retryOnConflict(attempt)).toEqual(success(`attempt ${times + 1}`));
    expect(attempts()).toBe(times + 1);
  });

  it('gives up after four attempts, with 503 and a Retry-After', async () => {
    const { attempt, attempts } = overtaken(Number.POSITIVE_INFINITY);
    expect(await retryOnConflict(attempt)).toMatchObject({
      kind: 'problem',
      type: 'SERVICE_UNAVAILABLE',
      headers: { 'Retry-After': expect.any(String) },
    });
    expect(attempts()).toBe(4);
  });

  it('does not retry an attempt that throws', async () => {
    let attempts = 0;
    const attempt = async () => {
      attempts += 1;
      throw new Error('the table is gone');
    };
    await expect(retryOnConflict(attempt)).rejects.toThrow('the table is gone');
    expect(attempts).toBe(1);
  });
});
