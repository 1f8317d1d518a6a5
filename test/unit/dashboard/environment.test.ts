import { describe, expect, it } from 'vitest';
import { halfOf, pathIn, samePlaceIn } from '../../../dashboard/src/app/environment.ts';

describe('the environment of a path', () => {
  it.each([
    ['/', 'live'],
    ['/endpoints/whk_1', 'live'],
    ['/sandbox/overview', 'sandbox'],
    ['/sandbox/endpoints/whk_1', 'sandbox'],
  ])('of %s is %s', (path, half) => {
    expect(halfOf(path)).toBe(half);
  });

  it.each(['/api-keys', '/sandbox', '/usage', '/settings', '/sandboxes'])(
    'stays the previous one on a page of the whole organization: %s',
    (path) => {
      expect(halfOf(path)).toBeUndefined();
    },
  );

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
  ])('switches from %s to the same list of the other environment', (from, live, sandbox) => {
    expect(samePlaceIn('live', from)).toBe(live);
    expect(samePlaceIn('sandbox', from)).toBe(sandbox);
  });
});
