import fc from 'fast-check';
import { expect, it } from 'vitest';
import { jsonText } from '../../../lib/openapi/json-text.ts';

it('jsonText writes any content, with long lines for texts only', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ maxDepth: 5 })), (content) => {
      const text = jsonText(content);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(content)));
      const long = text.split('\n').filter((line) => line.length > 110);
      for (const line of long) expect(line).toMatch(/^ *("(\\.|[^"\\])*": )?"(\\.|[^"\\])*",?$/);
    }),
  );
});
