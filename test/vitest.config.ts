import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { PATIENCE } from 'aws-local/test/patience.ts';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { DEPTH_VARIABLE } from './support/cases.ts';
import { FUNCTION_ENVIRONMENT } from './support/functions.ts';

if (Number(process.versions.node.split('.')[0]) < 24)
  throw new Error(`the tests need Node 24 or later, this is ${process.version}: run them with "npm test"`);

const ROOT = join(import.meta.dirname, '..');

/**
 * What takes long and waits starts first, beside what computes, and all unit tests are last, beside the
 * simulation: so the processors are busy until the end. Vitest itself sorts by file size.
 */
class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) =>
      ORDER.findIndex((part) => moduleId.includes(part)) + 1 || ORDER.length + 1;
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
const ORDER = [
  '/integration/benchmarks',
  '/e2e/',
  '/public-api/operations',
  '/sandbox/parity',
  '/background/',
  '/requests/recovery',
  '/service/',
  '/integration/',
  '/infra/',
  '/contract/',
  '/simulation/',
];

const CONTRACT = {
  testTimeout: 30_000 * PATIENCE,
  hookTimeout: 30_000 * PATIENCE,
  // Some count what a function has published.
  env: { METRICS_NAMESPACE: FUNCTION_ENVIRONMENT.METRICS_NAMESPACE },
  isolate: false,
};
/** Contract tests of whole functions, which each file loads anew: they read their environment then. */
const LOADING_FUNCTIONS = ['test/contract/api/**/*.test.ts', 'test/contract/store/sandbox-marks.test.ts'];

/**
 * What the tables in memory lack: streams, which the simulation has itself, and reads in a transaction. And
 * the costs that were measured on the embedded engine, which counts no byte for an element of a list or map.
 */
const WITHOUT_MEMORY = ['test/contract/store/{stream,delivery-cost,records}.test.ts'];

/** Those whose requests have every kind of key, expression, index and transaction: the others are deep. */
const ON_MEMORY = [
  'test/contract/engines/capacity.test.ts',
  'test/contract/store/{delivery-states,due-index,disabling,event-cost}.test.ts',
  'test/contract/store/{idempotency,ledger,rate-windows,rate-schedules}.test.ts',
];

/** Files that run on the tables in memory anyway, with more cases. */
const WITH_MEMORY = globSync('test/contract/store/*.test.ts', { cwd: ROOT }).filter((file) =>
  /\bmemoryTables\(/.test(readFileSync(join(ROOT, file), 'utf8')),
);

interface ProjectSettings {
  env?: Record<string, string>;
  include?: string[];
  exclude?: string[];
  /** Files that only the deep run has. */
  deep?: string[];
  [setting: string]: unknown;
}

/**
 * Tests of the repository and its packages by what they need: `unit` and `simulation` nothing, `contract` an
 * engine, `integration` the whole local run, `infra` a synthesis.
 */
const buildProject =
  (isDeep: boolean) =>
  (
    name: string,
    { include = listFiles(name), exclude = [], deep = [], env, ...settings }: ProjectSettings = {},
  ) => ({
    test: {
      name,
      include: isDeep
        ? [
            ...include.map((files) => files.replace('*.test.ts', '*.deep.test.ts')),
            ...deep,
            ...include.flatMap(listWithMoreCases),
          ]
        : include,
      // Other engines run deep files beside the others (`test/engines/contract.ts`).
      exclude: process.env[DEPTH_VARIABLE] === 'deep' || isDeep ? exclude : [...exclude, '**/*.deep.test.ts'],
      env: { ...env, ...(isDeep && { [DEPTH_VARIABLE]: 'deep' }) },
      ...settings,
    },
  });

/** Files whose tests have more cases in `npm run test:deep`. */
const listWithMoreCases = (files: string): string[] =>
  globSync(files, { cwd: ROOT }).filter((file) =>
    /import \{[^}]*\bcasesOf\b/.test(readFileSync(join(ROOT, file), 'utf8')),
  );

const listFiles = (name: string) => [`test/${name}/**/*.test.ts`, `packages/*/test/${name}/**/*.test.ts`];

/**
 * `npm test` runs the tests that every change must pass, and `npm run test:deep` those that take minutes:
 * files that end in `.deep.test.ts`, and those that call `casesOf` with all their cases.
 */
export default defineConfig(({ mode }) => {
  const project = buildProject(mode === 'deep');
  return {
    root: ROOT,
    test: {
      // Many tests wait for a deadline or a queue rather than compute, so more of them than cores may run at
      // once.
      maxWorkers: Math.max(3, availableParallelism()),
      // What functions log belongs to failed tests only.
      silent: 'passed-only',
      globalSetup: ['./test/support/leftovers/guard.ts', './test/grants/global-setup.ts'],
      sequence: { sequencer: WaitingFirst },
      projects: [
        project('unit', {
          // The stores and costs of the tables in memory, which the simulation runs on, as on the engine.
          include: [...['unit', 'compatibility'].flatMap(listFiles), ...ON_MEMORY],
          deep: ['test/contract/store/**/*.test.ts'],
          exclude: [...LOADING_FUNCTIONS, ...WITHOUT_MEMORY, ...WITH_MEMORY],
          // No test patches modules, so files may share them; loading the SDK for each file took most of the
          // time.
          isolate: false,
          // A generous limit, not a measure of speed: on a busy machine what takes a second has taken six.
          testTimeout: 30_000 * PATIENCE,
          env: { ...FUNCTION_ENVIRONMENT, DYNAMODB_ENGINE: 'memory' },
          // Examples import the package by its name; it is built for its users alone.
          alias: {
            'conversation-service-sdk/receiver': join(
              import.meta.dirname,
              '../packages/sdk/src/receiver/index.ts',
            ),
          },
        }),
        // A generous limit, not a measure of speed: tests that take ten seconds alone run beside others.
        project('simulation', { isolate: false, testTimeout: 600_000 * PATIENCE }),
        project('contract', { ...CONTRACT, exclude: LOADING_FUNCTIONS }),
        project('contract', {
          ...CONTRACT,
          name: 'contract-functions',
          include: LOADING_FUNCTIONS,
        }),
        project('integration', {
          isolate: false,
          testTimeout: 60_000 * PATIENCE,
          hookTimeout: 60_000 * PATIENCE,
          // In this order: a stack is made of the bundles.
          globalSetup: ['./test/integration/bundles.ts', './test/integration/service/stacks/global-setup.ts'],
        }),
        // Skipped with a notice where there is no Chromium.
        project('e2e', {
          testTimeout: 120_000 * PATIENCE,
          hookTimeout: 120_000 * PATIENCE,
          globalSetup: './test/integration/bundles.ts',
        }),
        // Last, because it compares the calls of functions in the other tests with their roles.
        project('grants', { sequence: { groupOrder: 1 } }),
        project('infra', {
          isolate: false,
          testTimeout: 60_000 * PATIENCE,
          hookTimeout: 60_000 * PATIENCE,
          globalSetup: ['./test/infra/syntheses.ts', './test/integration/bundles.ts'],
        }),
      ],
    },
  };
});
