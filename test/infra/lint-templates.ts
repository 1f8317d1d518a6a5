import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify, styleText } from 'node:util';
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
  'prod with everything on': contextOf(EVERYTHING),
  'prod with the customer’s key and issuer': contextOf({ ...OWN_KEY, ...OTHER_ISSUER }),
  'dev with everything on': contextOf({ stage: 'dev', ...EVERYTHING }),
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

/** @returns undefined where there is no Python */
function install(): string | undefined {
  try {
    return join(installTools(`${CFN_LINT}\n`), 'cfn-lint');
  } catch (error) {
    if (!(error instanceof NoPythonError)) throw error;
    process.stdout.write(`cfn-lint ${error.message}: nothing was judged.\n`);
  }
}

const program = install();
if (program !== undefined) {
  process.stdout.write(`${CFN_LINT}, ${REGIONS.join(' and ')}\n`);
  const outdir = await mkdtemp(join(tmpdir(), 'templates-'));
  try {
    for (const [name, context] of Object.entries(CONFIGURATIONS)) {
      const templates = await synthesize(join(outdir, name), context);
      const findings = await findingsIn(program, templates);
      const errors = findings.filter(({ Level }) => Level === 'Error');
      for (const { Rule, Message, Filename, Location } of errors) {
        const place = `${Filename.slice(outdir.length + 1)}:${Location.Start.LineNumber}`;
        process.stdout.write(`${styleText('red', Rule.Id)} ${place}\n  ${Message}\n`);
      }
      const rules = new Set(findings.filter(({ Level }) => Level !== 'Error').map(({ Rule }) => Rule.Id));
      const rest = `${findings.length - errors.length} warnings (${[...rules].join(', ') || 'none'})`;
      const count = styleText(errors.length > 0 ? 'red' : 'green', `${errors.length} errors`);
      process.stdout.write(`${name}: ${templates.length} templates, ${count}, ${rest}\n`);
      if (errors.length > 0) process.exitCode = 1;
    }
  } finally {
    await rm(outdir, { recursive: true, force: true });
  }
}
