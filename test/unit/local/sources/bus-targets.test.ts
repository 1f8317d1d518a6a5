import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messageBody } from '../../../../lib/local/sources/bus-targets.ts';

describe('the message of a bus event', () => {
  it('says the same whatever characters the event has, in those that the embedded SQS takes', () => {
    expect(messageBody({ name: 'Ada 🦊 \uFFFF' })).toBe('{"name":"Ada \\ud83e\\udd8a \\uffff"}');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        const body = messageBody({ name });
        expect(JSON.parse(body)).toEqual({ name });
        expect(body).toMatch(/^[\t\n\r\x20-\uD7FF\uE000-\uFFFD]*$/);
      }),
    );
  });
});
