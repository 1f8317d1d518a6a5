import { describe, expect, it } from 'vitest';
import { wishOf } from '../../src/stop-request.ts';

describe('signals', () => {
  it('request a stop with the first one', () => {
    expect(wishOf(undefined, 1000)).toBe('stop');
  });

  it('ignore the copy that npm passes on for the same keystroke', () => {
    expect(wishOf(1000, 1000)).toBe('nothing new');
    expect(wishOf(1000, 1299)).toBe('nothing new');
  });

  it('request an immediate stop with the second one', () => {
    expect(wishOf(1000, 1300)).toBe('stop at once');
  });
});
