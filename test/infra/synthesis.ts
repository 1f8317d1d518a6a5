import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { PATIENCE } from 'aws-local/test/patience.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../functions/api/routes.ts';
import { DOCUMENTATION, SIGN_IN, WORKERS } from '../../lib/infra/bundle.ts';
import { METHOD_NOT_ALLOWED } from '../../lib/infra/served-methods.ts';
import { DASHBOARD_BUNDLE } from '../../lib/infra/site/bundle.ts';
import { contextOf, EVERYTHING } from './contexts.ts';

const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const synthesize = (outdir: string, context: object, bundles: string | undefined) =>
  run(process.execPath, ['bin/app.ts'], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      CDK_OUTDIR: outdir,
      CDK_BUNDLES: bundles,
      CDK_CONTEXT_JSON: JSON.stringify(context),
    },
  });
/** Not a measure of speed: it takes some seconds alone, and minutes beside other tests. */
const LIMIT_MS = 240_000 * PATIENCE;

/**
 * The app as a deployment runs it.
 * @param bundles directory of bundles to use; without it the app bundles, as for a deployment
 */
export function wholeSynthesis(bundles?: string): void {
  describe('the whole synthesis', () => {
    let outdir: string;
    let printed: { stdout: string; stderr: string };
    beforeAll(async () => {
      outdir = await mkdtemp(join(tmpdir(), 'synthesis-'));
      printed = await synthesize(outdir, contextOf(EVERYTHING), bundles);
    }, LIMIT_MS);
    afterAll(() => rm(outdir, { recursive: true, force: true }));

    it('has no finding of cdk-nag or the template validation, and prints nothing', async () => {
      const report = JSON.parse(await readFile(join(outdir, 'validation-report.json'), 'utf8'));
      expect(report.pluginReports).toEqual([]);
      expect(printed).toEqual({ stdout: '', stderr: '' });
    });

    it('is one stack, protected against deletion where it keeps data', async () => {
      const { artifacts } = JSON.parse(await readFile(join(outdir, 'manifest.json'), 'utf8'));
      const all: [string, { type: string; properties: { terminationProtection?: boolean } }][] =
        Object.entries(artifacts);
      const stacks = all.filter(([, { type }]) => type === 'aws:cloudformation:stack');
      expect(stacks.map(([name, { properties }]) => [name, properties.terminationProtection])).toEqual([
        ['ConversationService-prod', true],
      ]);
    });

    it('leaves out of a function the schemas that it does not use, and those of other routes', async () => {
      const codeOf = (name: string) =>
        readFile(join(bundles ?? join(outdir, 'functions'), name, 'index.mjs'), 'utf8');
      const [registers, reads] = await Promise.all([codeOf('register-webhook'), codeOf('read-ticket')]);
      const ofRegistration = 'must not name';
      expect(registers).toContain(ofRegistration);
      expect(reads).not.toContain(ofRegistration);
      expect(reads).not.toContain('OIDC_ISSUER');
    });

    it('gives each function its own code, which loads', async () => {
      const manifests = (await readdir(outdir)).filter((file) => file.endsWith('.assets.json'));
      const assets = (
        await Promise.all(
          manifests.map(async (file) => JSON.parse(await readFile(join(outdir, file), 'utf8'))),
        )
      ).flatMap(({ files }: { files: Record<string, { source: { path: string; packaging: string } }> }) =>
        Object.values(files),
      );
      const directories = assets
        .filter(({ source }) => source.packaging === 'zip')
        .map(({ source }) => source.path);
      const contents = await Promise.all(directories.map((directory) => readdir(resolve(outdir, directory))));
      const functions = [
        ...Object.keys(routes),
        ...WORKERS,
        ...SIGN_IN,
        ...DOCUMENTATION,
        METHOD_NOT_ALLOWED,
      ];
      expect(contents.filter((files) => files.includes('index.mjs'))).toHaveLength(functions.length);
    });

    it('contains the built dashboard, with all files that it refers to', async () => {
      const built = join(bundles ?? outdir, DASHBOARD_BUNDLE);
      const html = await readFile(join(built, 'index.html'), 'utf8');
      const files = [...html.matchAll(/(?:src|href)="\/([^"]+)"/g)].map(([, file = '']) => file);
      expect(files.some((file) => /^assets\/.*\.js$/.test(file))).toBe(true);
      for (const file of files) expect((await readFile(join(built, file))).length, file).toBeGreaterThan(0);
    });

    it(
      'stops at a wrong setting with one line and exit code 1, before any build',
      async () => {
        const wrong = join(outdir, 'wrong');
        await expect(
          synthesize(wrong, { stage: 'dev', settings: { class: 'development', waf: 'no' } }, bundles),
        ).rejects.toMatchObject({
          code: 1,
          stdout: '',
          stderr: 'lib/stages/dev.ts: waf must be true or false, not "no"\n',
        });
        await expect(readdir(wrong)).rejects.toMatchObject({ code: 'ENOENT' });
      },
      LIMIT_MS,
    );
  });
}
