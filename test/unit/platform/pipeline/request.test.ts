import { describe, expect, it } from 'vitest';
import { retryOnConflict } from '../../../../functions/platform/pipeline/request.ts';
import { type Reply, success } from '../../../../functions/platform/reply.ts';

/** An attempt that finds what it read changed so many times. */
function overtaken(times: number) {
  let attempts = 0;
  const attempt = async (again: () => Promise<Reply>): Promise<Reply> => {
    attempts += 1;
    return attempts > times ? success(`attempt ${attempts}`) : again();
  };
  return { attempt, attempts: () => attempts };
}

describe('an optimistic attempt', () => {
  it.each([0, 1, 2, 3])(
    'that is overtaken %i times is made once more, and its reply is the answer',
    async (times) => {
      const { attempt, attempts } = overtaken(times);
      expect(await retryOnConflict(attempt)).toEqual(success(`attempt ${times + 1}`));
      expect(attempts()).toBe(times + 1);
    },
  );

  it('that is overtaken without end is given up after four times, with 503 and the advice to try again', async () => {
    const { attempt, attempts } = overtaken(Number.POSITIVE_INFINITY);
    expect(await retryOnConflict(attempt)).toMatchObject({
      kind: 'problem',
      type: 'SERVICE_UNAVAILABLE',
      headers: { 'Retry-After': expect.any(String) },
    });
    expect(attempts()).toBe(4);
  });

  it('that fails is not made again', async () => {
    let attempts = 0;
    const attempt = async () => {
      attempts += 1;
      throw new Error('the table is gone');
    };
    await expect(retryOnConflict(attempt)).rejects.toThrow('the table is gone');
    expect(attempts).toBe(1);
  });
});
