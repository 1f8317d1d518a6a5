import fc from 'fast-check';
import { expect, it } from 'vitest';
import { messageBody } from '../../../src/sources/bus-targets.ts';

it('the message of a bus event has the same content for any characters, in those that the embedded SQS accepts', () => {
  expect(messageBody({ name: 'Ada 🦊 \uFFFF' })).toBe('{"name":"Ada \\ud83e\\udd8a \\uffff"}');
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (name) => {
      const body = messageBody({ name });
      expect(JSON.parse(body)).toEqual({ name });
      expect(body).toMatch(/^[\t\n\r\x20-\uD7FF\uE000-\uFFFD]*$/);
    }),
  );
});
