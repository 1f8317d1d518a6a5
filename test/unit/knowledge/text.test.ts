import { describe, expect, it } from 'vitest';
import { Collector, MAX_TEXT_BYTES } from '../../../functions/knowledge/text.ts';
import { textIn } from './contents.ts';

function collect(parts: readonly string[], separator: string): string {
  const collector = new Collector();
  collector.add(parts.join(separator));
  return collector.text();
}

describe('size of a text', () => {
  const parts = Array.from({ length: MAX_TEXT_BYTES / 100 }, () => 'x'.repeat(100));

  it.each([
    ['cells', ' | '],
    ['lines', '\n'],
    ['paragraphs', '\n\n'],
  ])('does not include what separates its %s', (_what, separator) => {
    expect(Buffer.byteLength(collect(parts, separator))).toBeGreaterThan(MAX_TEXT_BYTES);
    expect(() => collect([...parts, 'x'], separator)).toThrow('the text is larger than 1 MB');
  });

  it('includes the spaces between its words', () => {
    expect(() => collect(parts, ' ')).toThrow('the text is larger than 1 MB');
  });

  it('is that of a table, not of its text with separators', async () => {
    expect(await textIn('spreadsheet', 'abcd,efgh\n'.repeat(92_800))).toContain('abcd');
  });
});
