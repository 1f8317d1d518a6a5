import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import * as z from 'zod';
import { DEPTH_VARIABLE } from '../support/cases.ts';
import type { Check } from './differences.ts';
import { ProgramError, runProgram } from './program.ts';

const ROOT = join(import.meta.dirname, '../..');
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs');
/** Factor of the timeouts of the contract suites: these engines are slower than the embedded ones. */
const PATIENCE = '10';
/** Variables that would make a suite use another engine than the one under test. */
const ENGINE_VARIABLES = ['DYNAMODB_ENDPOINT', 'SQS_ENDPOINT', 'DYNOXIDE_BIN'];

const Report = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().default(''),
      assertionResults: z.array(
        z.object({
          ancestorTitles: z.array(z.string()),
          title: z.string(),
          status: z.string(),
          failureMessages: z.array(z.string()).nullish(),
        }),
      ),
    }),
  ),
});

/**
 * Runs contract test files on the engines that `settings` name.
 * @param onTest called after each test
 * @throws ProgramError when Vitest writes no report
 */
export async function runContractSuites(
  files: readonly string[],
  settings: Record<string, string>,
  onTest: (passed: boolean) => void,
): Promise<Check[]> {
  const directory = await mkdtemp(join(tmpdir(), 'contract-'));
  const outputFile = join(directory, 'report.json');
  const { FORCE_COLOR: _, ...inherited } = process.env;
  for (const name of ENGINE_VARIABLES) delete inherited[name];
  try {
    const { code, printed } = await runProgram(
      process.execPath,
      [
        ...[VITEST, 'run', '--config', join(ROOT, 'test/vitest.config.ts')],
        // All files share one engine: with more of them at once, each request would wait longer.
        ...['--maxWorkers', '2'],
        ...['--project', 'contract', '--project', 'contract-functions'],
        ...['--reporter', 'verbose', '--reporter', 'json', '--outputFile', outputFile],
        ...files,
      ],
      {
        cwd: ROOT,
        env: {
          ...inherited,
          ...settings,
          TEST_PATIENCE: PATIENCE,
          [DEPTH_VARIABLE]: 'deep',
          NO_COLOR: '1',
        },
        onLine: (line) => {
          const [, mark] = /^\s*([✓×]) \S/.exec(line) ?? [];
          if (mark !== undefined) onTest(mark === '✓');
        },
      },
    );
    const report = await readFile(outputFile, 'utf8').catch(() => {
      throw new ProgramError(`Vitest ended with ${code} and wrote no report:\n${printed}`);
    });
    return listChecks(Report.parse(JSON.parse(report)));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** A check for each test, and one for each file that failed as a whole. */
function listChecks({ testResults }: z.output<typeof Report>): Check[] {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(ROOT, name).replace(/^(?:packages\/([\w-]+)\/)?test\/contract\//, (_, of) =>
      of ? `${of}/` : '',
    );
    const tests = assertionResults
      .filter((test) => test.status === 'passed' || test.status === 'failed')
      .map((test): Check => {
        const [reason = ''] = test.failureMessages ?? [];
        const check = { name: [file, ...test.ancestorTitles, test.title].join(' › ') };
        return test.status === 'passed' ? { ...check, passed: true } : { ...check, passed: false, reason };
      });
    const isWhole = status === 'failed' && tests.every(({ passed }) => passed);
    return isWhole ? [...tests, { name: file, passed: false, reason: message }] : tests;
  });
}
