import { describe, expect, it } from 'vitest';
import { idempotencyKeys } from '../../../dashboard/src/api/idempotency.ts';

const NOTHING_ANSWERED = new Error('nothing answered');

describe('idempotency keys', () => {
  it('are the same for the same content until it succeeded, and differ for other content', async () => {
    const keys = idempotencyKeys();
    const sent: string[] = [];
    const send = (isAnswered: boolean) => async (key: { 'Idempotency-Key': string }) => {
      sent.push(key['Idempotency-Key']);
      if (!isAnswered) throw NOTHING_ANSWERED;
      return 'made';
    };
    await expect(keys.once({ since: 1 }, send(false))).rejects.toBe(NOTHING_ANSWERED);
    expect(await keys.once({ since: 1 }, send(true))).toBe('made');
    await keys.once({ since: 1 }, send(true));
    await keys.once({ since: 2 }, send(true));
    expect(sent[1]).toBe(sent[0]);
    expect(new Set(sent).size).toBe(3);
  });

  it('are dropped one by one', () => {
    const keys = idempotencyKeys();
    const [first, second] = [keys({ url: 'a' }), keys({ url: 'b' })];
    keys.forget({ url: 'a' });
    expect(keys({ url: 'a' })).not.toEqual(first);
    expect(keys({ url: 'b' })).toEqual(second);
  });
});
