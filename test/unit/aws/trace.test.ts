import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTraceId } from '../../../functions/aws/ids.ts';

const ROOT = '1-5759e988-bd862e3fe1be46a994272793';

describe('trace of an API call', () => {
  it.each([
    `Root=${ROOT}`,
    `Root=${ROOT};Parent=53995c3f42cd8ad8;Sampled=1`,
    `Self=1-67891234-12456789abcdef012345678;Root=${ROOT};CalledFrom=app`,
    `Sampled=0; Root=${ROOT} ; Parent=53995c3f42cd8ad8`,
  ])('is the root of %s', (header) => {
    expect(parseTraceId(header, 'request-1')).toBe(ROOT);
  });

  it.each([
    undefined,
    '',
    'Root=',
    'Root=canary',
    `Root=${ROOT}0`,
    `MyRoot=${ROOT}`,
    `Root=${ROOT.toUpperCase()}`,
  ])("is its request's id when the header is %s", (header) => {
    expect(parseTraceId(header, 'request-1')).toBe('request-1');
  });

  it('is never chosen by the caller, for any header', () => {
    fc.assert(
      fc.property(fc.string(), (header) => {
        expect(parseTraceId(header, 'request-1')).toMatch(/^(request-1|1-[0-9a-f]{8}-[0-9a-f]{24})$/);
      }),
    );
  });
});
