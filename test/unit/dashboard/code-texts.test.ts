import { describe, expect, it } from 'vitest';
import { de } from '../../../dashboard/src/text/de.ts';
import { en } from '../../../dashboard/src/text/en.ts';
import { errorTextOf, sourceErrorTextOf } from '../../../dashboard/src/text/error-text.ts';
import document from '../../../docs/openapi/v1.json';

const { schemas } = document.components;

describe.each([
  ['English', en],
  ['German', de],
])('the dashboard in %s', (_, texts) => {
  const { forms, attemptErrors } = texts;

  it("has a text of its own for each code of an attempt's error, with what the API says of it", () => {
    const codes = schemas.Delivery.properties.lastErrorCode.anyOf.flatMap((part) => part.enum ?? []);
    expect(Object.keys(attemptErrors).sort()).toEqual(codes.toSorted());
    expect(new Set(Object.values(attemptErrors).map((text) => text(503))).size).toBe(codes.length);
    const failure = { lastError: 'TLS certificate has expired', lastResponseStatus: null };
    expect(errorTextOf(texts, { ...failure, lastErrorCode: 'tls' })).toMatch(
      /^TLS.+: TLS certificate has expired$/,
    );
    const later = Object({ ...failure, lastErrorCode: 'quantum' });
    expect(errorTextOf(texts, later)).toBe('TLS certificate has expired');
  });

  it("has a text for each code of a source's error, with what the API says of it", () => {
    const codes = schemas.Source.properties.lastErrorCode.anyOf.flatMap((part) => part.enum ?? []);
    const told = codes.map((code) =>
      sourceErrorTextOf(texts, Object({ lastError: 'the server answered 404', lastErrorCode: code })),
    );
    expect(new Set(told).size).toBe(codes.length);
    for (const text of told) expect(text).toMatch(/^[A-ZÄÖÜ][^:]+[^:.]: the server answered 404$/);
    const without = { lastError: 'the server answered 404', lastErrorCode: null };
    expect(sourceErrorTextOf(texts, without)).toBe('the server answered 404');
  });

  it('has a text of its own for each code of an invalid field', () => {
    const codes = schemas.ErrorDetail.properties.code['x-extensible-enum'];
    expect(Object.keys(forms.faults).sort()).toEqual(codes.toSorted());
    expect(new Set(Object.values(forms.faults).map((text) => text(7))).size).toBe(codes.length);
  });
});
