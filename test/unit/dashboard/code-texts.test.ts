import { describe, expect, it } from 'vitest';
import { de } from '../../../dashboard/src/text/de.ts';
import { en } from '../../../dashboard/src/text/en.ts';
import document from '../../../docs/openapi/v1.json';

const { schemas } = document.components;

describe.each([
  ['English', en],
  ['German', de],
])('the dashboard in %s', (_, { forms }) => {
  it('has a text of its own for each code of an invalid field', () => {
    const codes = schemas.ErrorDetail.properties.code['x-extensible-enum'];
    expect(Object.keys(forms.faults).sort()).toEqual(codes.toSorted());
    expect(new Set(Object.values(forms.faults).map((text) => text(7))).size).toBe(codes.length);
  });
});
