import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { documentText, openApiCommand } from '../../../lib/openapi/command.ts';
import { runCommandLine, usageError } from '../../support/command-line.ts';

describe('npm run generate -- openapi', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'openapi-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  function run(...args: string[]) {
    const said = { out: '', err: '' };
    const code = openApiCommand(args, {
      directory,
      out: (text) => {
        said.out += text;
      },
      err: (text) => {
        said.err += text;
      },
    });
    return { code, ...said };
  }

  it('writes the document, which is then up to date', () => {
    expect(run()).toEqual({
      code: 0,
      out: 'Wrote openapi/v1.json, openapi/event-types.json, reference/routes.md, reference/errors.md, reference/events.md, reference/fields.md.\n',
      err: '',
    });
    expect(readFileSync(join(directory, 'openapi/v1.json'), 'utf8')).toBe(documentText());
    expect(run('--check')).toMatchObject({ code: 0, err: '' });
  });

  it('reports with --check a stale document and the command to renew it, and writes nothing', () => {
    expect(run('--check')).toMatchObject({
      code: 1,
      err: expect.stringContaining('npm run generate -- openapi'),
    });
    mkdirSync(join(directory, 'openapi'));
    writeFileSync(join(directory, 'openapi/v1.json'), documentText().replace('"3.1.1"', '"3.1.0"'));
    expect(run('--check').code).toBe(1);
    expect(readdirSync(directory, { recursive: true }).toSorted()).toEqual(['openapi', 'openapi/v1.json']);
    run();
    writeFileSync(join(directory, 'reference/routes.md'), '# Routes');
    expect(run('--check')).toMatchObject({
      code: 1,
      err: expect.stringContaining('Stale: reference/routes.md.'),
    });
  });

  it('prints its help', () => {
    expect(runCommandLine(() => run('--help'))).toMatchObject({
      code: 0,
      output: expect.stringContaining('--check'),
    });
    expect(usageError(() => run('--nope'))).toContain('--nope');
    expect(usageError(() => run('extra'))).toContain('too many arguments');
    expect(readdirSync(directory)).toEqual([]);
  });
});
