import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LogFile } from '../../../lib/local-run/start/log-file.ts';
import { temporaryDirectory } from './temporary-directory.ts';

describe('log file', () => {
  it('keeps the newest lines in two files of bounded size', async () => {
    const directory = await temporaryDirectory();
    const path = join(directory, 'functions.log');
    const file = new LogFile(path, 100);
    for (let index = 0; index < 100; index += 1) file.append({ source: 'Fn', text: `line ${index}` });
    file.close();
    expect((await readdir(directory)).sort()).toEqual(['functions.log', 'functions.log.1']);
    expect((await stat(path)).size).toBeLessThanOrEqual(100);
    expect((await stat(`${path}.1`)).size).toBeLessThanOrEqual(100);
    expect(await readFile(path, 'utf8')).toMatch(/Fn line 99\n$/);
  });

  it('appends to the file of an earlier run', async () => {
    const path = join(await temporaryDirectory(), 'functions.log');
    for (const text of ['first', 'second']) {
      const file = new LogFile(path, 100);
      file.append({ source: 'Fn', text });
      file.close();
    }
    expect(await readFile(path, 'utf8')).toBe('Fn first\nFn second\n');
  });
});
