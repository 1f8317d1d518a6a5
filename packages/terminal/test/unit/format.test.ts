import { describe, expect, it } from 'vitest';
import { formatDuration, harmless } from '../../src/format.ts';

describe('durations', () => {
  it.each([
    [0.4, '0 ms'],
    [42.4, '42 ms'],
    [999.4, '999 ms'],
    [999.6, '1.0 s'],
    [4230, '4.2 s'],
    [59_949, '59.9 s'],
    [59_951, '1 min 0 s'],
    [80_000, '1 min 20 s'],
  ])('shows %d ms as %s', (milliseconds, shown) => {
    expect(formatDuration(milliseconds)).toBe(shown);
  });
});

describe('external text', () => {
  it('keeps line breaks and letters of every script', () => {
    expect(harmless('Grüße\n你好')).toBe('Grüße\n你好');
  });

  it('has escaped control characters', () => {
    expect(harmless('\u001b[31m\r\u007f')).toBe('\\u001b[31m\\u000d\\u007f');
  });
});
