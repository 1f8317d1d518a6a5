import crypto from 'node:crypto';
import https from 'node:https';
import timers from 'node:timers/promises';
import zlib from 'node:zlib';
import { expect, it } from 'vitest';
import { builtInModules } from '../../../lib/cloud/built-in-modules.ts';
import { bundled } from './bundled.ts';

it('gives a bundle what Node’s modules export, however it is imported', async () => {
  const { exported, text } = await bundled(
    `import { createHash as digest } from 'node:crypto';
     import https, { Agent } from 'node:https';
     import * as zlib from 'node:zlib';
     import { setTimeout } from 'node:timers/promises';
     export class Kept extends Agent {}
     export { digest, setTimeout };
     export const request = https.request, get = https['get'];
     export const inflate = zlib.inflateSync, level = zlib.constants.Z_BEST_SPEED;
     export const hash = () => digest('sha256').update('a').digest('hex');`,
    [builtInModules],
  );

  expect(exported).toMatchObject({
    digest: crypto.createHash,
    request: https.request,
    get: https.get,
    inflate: zlib.inflateSync,
    level: zlib.constants.Z_BEST_SPEED,
    setTimeout: timers.setTimeout,
  });
  expect(new (exported.Kept as typeof https.Agent)()).toBeInstanceOf(https.Agent);
  expect((exported.hash as () => string)()).toBe(crypto.createHash('sha256').update('a').digest('hex'));
  expect(text).not.toMatch(/from\s*"node:/);
});

it('looks at nothing of a module before it is used', async () => {
  const { exported } = await bundled(
    `import { late } from 'node:process';
     export const value = () => late;`,
    [builtInModules],
  );
  Object.assign(process, { late: 'set after the bundle was loaded' });
  try {
    expect((exported.value as () => string)()).toBe('set after the bundle was loaded');
  } finally {
    Reflect.deleteProperty(process, 'late');
  }
});

it('leaves what a bundle imports later to Node', async () => {
  const { text } = await bundled(`export const later = () => import('node:http');`, [builtInModules]);
  expect(text).toMatch(/import\("node:http"\)/);
});
