import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { headerOf, mediaTypeOf, parseTarget } from '../../../src/gateway/request.ts';

describe('a request target', () => {
  it.each([
    ['/', [], []],
    ['/api/v1', ['api', 'v1'], []],
    ['/api/', ['api', ''], []],
    ['/a%2Fb/%C3%A9', ['a/b', 'é'], []],
    [
      '/a?b=1&b=2&c&d=%26+x',
      ['a'],
      [
        ['b', '1'],
        ['b', '2'],
        ['c', ''],
        ['d', '& x'],
      ],
    ],
    ['/a?x=1=2?3', ['a'], [['x', '1=2?3']]],
    ['http://localhost:3000/a?b=1', ['a'], [['b', '1']]],
  ])('is parsed from %s', (target, segments, query) => {
    expect(parseTarget(target)).toMatchObject({ segments, query });
  });

  it.each(['/a%', '/a%zz', '/%ff', '/a?b=%', '/a?%e0%a4', '*', 'example.com:443', ''])(
    'is refused when it is %s',
    (target) => {
      expect(parseTarget(target)).toBeUndefined();
    },
  );

  it('never throws, and keeps encoded parts', () => {
    fc.assert(fc.property(fc.string(), (text) => void parseTarget(text)));
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
        const encoded = encodeURIComponent(text);
        expect(parseTarget(`/x/${encoded}?${encoded}=${encoded}`)).toMatchObject({
          segments: ['x', text],
          query: [[text, text]],
        });
      }),
    );
  });
});

describe('the headers of a request', () => {
  const headers: [string, string][] = [['CONTENT-type', 'Text/Plain; charset=utf-8']];

  it('are found in any case', () => {
    expect(headerOf({ headers }, 'content-type')).toBe('Text/Plain; charset=utf-8');
    expect(headerOf({ headers }, 'accept')).toBeUndefined();
  });

  it('have the media type, JSON by default', () => {
    expect(mediaTypeOf({ headers })).toBe('text/plain');
    expect(mediaTypeOf({ headers: [] })).toBe('application/json');
  });
});
