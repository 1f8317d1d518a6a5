import { describe, expect, it } from 'vitest';
import { environmentOf, pathIn, samePlaceIn } from '../../../dashboard/src/app/environment.ts';

describe('the half of the organization that a path shows', () => {
  it.each([
    ['/', 'live'],
    ['/endpoints/whk_1', 'live'],
    ['/sandbox', 'live'],
    ['/sandbox/overview', 'sandbox'],
    ['/sandbox/endpoints/whk_1', 'sandbox'],
    ['/sandboxes', 'live'],
  ])('of %s is %s', (path, environment) => {
    expect(environmentOf(path)).toBe(environment);
  });

  it.each([
    ['/', '/sandbox/overview'],
    ['/deliveries', '/sandbox/deliveries'],
  ])('is changed by a prefix: %s', (live, sandbox) => {
    expect(pathIn('sandbox', live)).toBe(sandbox);
    expect(pathIn('live', live)).toBe(live);
  });

  it.each([
    ['/', '/', '/sandbox/overview'],
    ['/sandbox/overview', '/', '/sandbox/overview'],
    ['/endpoints', '/endpoints', '/sandbox/endpoints'],
    ['/sandbox/deliveries/whk_1/dlv_1', '/deliveries', '/sandbox/deliveries'],
    ['/usage', '/', '/sandbox/overview'],
    ['/sandbox', '/', '/sandbox/overview'],
  ])('switches from %s to the same list of the other half', (from, live, sandbox) => {
    expect(samePlaceIn('live', from)).toBe(live);
    expect(samePlaceIn('sandbox', from)).toBe(sandbox);
  });
});
