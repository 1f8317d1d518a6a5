import { describe, expect, it } from 'vitest';
import { isUnexplained } from '../../chaos/verdict.ts';

const receipt = { messageId: 'msg_1', requests: 2, accepted: 2 };

describe('a delivery that its receiver accepted twice', () => {
  it('is unexplained when the service recorded a response to each attempt', () => {
    expect(isUnexplained({ attempts: 2, recorded: [{ status: 500 }, { status: 204 }] }, receipt)).toBe(true);
  });

  it('is explained by an attempt without an outcome', () => {
    expect(isUnexplained({ attempts: 2, recorded: [{ status: 204 }] }, receipt)).toBe(false);
  });

  it('is explained by a response that came too late', () => {
    expect(isUnexplained({ attempts: 2, recorded: [{ status: null }, { status: 204 }] }, receipt)).toBe(
      false,
    );
  });
});
