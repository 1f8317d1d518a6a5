import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createScreen } from 'terminal/screen.ts';
import { listStages } from '../../lib/infra/context.ts';
import { installTools, NoPythonError } from '../../packages/sdk-python/bin/toolbox.ts';
import { contextOf, EVERYTHING, OTHER_ISSUER, OWN_KEY } from './contexts.ts';

/*
 * Runs cfn-lint on the templates of six configurations for two regions: `npm run lint:templates`. It is not
 * part of `npm test`, because it is a Python package, which the product does not need.
 */

/** An older one refuses properties that CloudFormation has got since. */
const CFN_LINT = 'cfn-lint==1.58.0';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const REGIONS = ['us-east-1', 'eu-central-1'];
const CONFIGURATIONS = {
  ...Object.fromEntries(listStages().map((stage) => [stage, { stage }])),
  'prod, everything on': contextOf(EVERYTHING),
  'prod, own key and issuer': contextOf({ ...OWN_KEY, ...OTHER_ISSUER }),
  'dev, everything on': contextOf({ stage: 'dev', ...EVERYTHING }),
};

interface Finding {
  Level: 'Error' | 'Warning' | 'Informational';
  Rule: { Id: string };
  Message: string;
  Filename: string;
  Location: { Start: { LineNumber: number } };
}

async function synthesize(outdir: string, context: object): Promise<string[]> {
  const { PATH } = process.env;
  const env = { PATH, CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: JSON.stringify(context) };
  await run(process.execPath, ['bin/app.ts'], { cwd: ROOT, env });
  const files = await readdir(outdir);
  return files.filter((file) => file.endsWith('.template.json')).map((file) => join(outdir, file));
}

/** @throws Error when cfn-lint itself fails */
async function findingsIn(program: string, templates: readonly string[]): Promise<Finding[]> {
  const flags = ['--include-experimental', '--regions', ...REGIONS, '--format', 'json'];
  const { stdout } = await run(program, [...flags, '--', ...templates], { maxBuffer: 2 ** 26 }).catch(
    (error: unknown) => {
      // It exits with another code when it has findings.
      if (error instanceof Error && 'stdout' in error && String(error.stdout).startsWith('[')) {
        return { stdout: String(error.stdout) };
      }
      throw error;
    },
  );
  return JSON.parse(stdout);
}

/** Prints the errors in the templates of one configuration. */
async function judge(program: string, outdir: string, name: string, context: object): Promise<void> {
  const found: Finding[] = [];
  await screen.step(
    name,
    async () => found.push(...(await findingsIn(program, await synthesize(join(outdir, name), context)))),
    () => summaryOf(found),
  );
  for (const { Rule, Message, Filename, Location } of found.filter(isError)) {
    process.exitCode = 1;
    const place = `${Filename.slice(outdir.length + 1)}:${Location.Start.LineNumber}`;
    screen.print(`    ${screen.paint('red', Rule.Id)} ${place}\n      ${Message}`);
  }
}

const isError = ({ Level }: Finding) => Level === 'Error';

function summaryOf(found: readonly Finding[]): string {
  const errors = found.filter(isError).length;
  const rules = new Set(found.filter((finding) => !isError(finding)).map(({ Rule }) => Rule.Id));
  const count = screen.paint(errors > 0 ? 'red' : 'green', `${errors} errors`);
  return `${count}, ${found.length - errors} warnings (${[...rules].join(', ') || 'none'})`;
}

const screen = createScreen(process.stdout);
const outdir = await mkdtemp(join(tmpdir(), 'templates-'));
try {
  const programs = await screen.step(`Install ${CFN_LINT}`, async () => installTools(`${CFN_LINT}\n`));
  screen.print(`\n  Templates for ${REGIONS.join(' and ')}`);
  for (const [name, context] of Object.entries(CONFIGURATIONS))
    await judge(join(programs, 'cfn-lint'), outdir, name, context);
} catch (error) {
  if (error instanceof NoPythonError) screen.print(`cfn-lint ${error.message}: nothing was judged.`);
  else {
    screen.print(`\n${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
} finally {
  await rm(outdir, { recursive: true, force: true });
}
