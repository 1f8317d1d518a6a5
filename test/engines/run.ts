import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startDynamoDb } from 'aws-local/engines/dynamodb.ts';
import { formatDuration } from 'terminal/format.ts';
import { createScreen, type Screen } from 'terminal/screen.ts';
import { temporaryDirectory } from '../support/local-run.ts';
import { readEngines } from './arguments.ts';
import { runContractSuites } from './contract.ts';
import {
  type Check,
  type Comparison,
  compare,
  type Difference,
  lineOf,
  readDifferences,
} from './differences.ts';
import { install, MissingToolError, requireTools } from './install.ts';
import { type EngineName, VERSIONS } from './names.ts';
import { endPrograms } from './program.ts';
import { checkRequests } from './requests.ts';
import { type StartedEngine, startEngine } from './start.ts';
import { contractFilesNeeding } from './test-files.ts';
import { runWhole } from './whole-run.ts';

const DOCUMENT = join(import.meta.dirname, '../../docs/reference/engines.md');

const TESTS_BETWEEN_LINES = 100;

interface Result {
  engine: string;
  comparison?: Comparison;
  startMs?: number;
  testsMs?: number;
  /** Further information: why it was skipped, or what failed. */
  note?: string;
  failed: boolean;
}

async function main(args: readonly string[]): Promise<number> {
  const engines = readEngines(args);
  const screen = createScreen(process.stdout);
  const differences = readDifferences(await readFile(DOCUMENT, 'utf8'));
  const results: Result[] = [];
  await using running = new AsyncDisposableStack();
  const servers: StartedEngine[] = [];
  for (const name of engines) {
    screen.print(`\n  ${screen.paint('bold', `${name} ${VERSIONS[name]}`)}\n`);
    try {
      await requireTools(name);
      const engine = await prepare(name, screen);
      running.defer(() => engine.stop());
      results.push(await testEngine(engine, differences, screen));
      if (name === 'dynoxide') results.push(await testLocalRun([engine], screen));
      else servers.push(engine);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const isSkipped = error instanceof MissingToolError;
      screen.print(`  ${isSkipped ? 'Skipped: ' : ''}${message}`);
      results.push({ engine: name, note: isSkipped ? 'skipped' : 'see above', failed: !isSkipped });
    }
  }
  if (servers.length > 0) results.push(await testLocalRun(servers, screen));
  screen.print(`\n${summary(results, screen)}`);
  return results.some(({ failed }) => failed) ? 1 : 0;
}

async function prepare(name: EngineName, screen: Screen): Promise<StartedEngine> {
  const isLine = /Downloaded|Compiling (?:dynoxide|rusqlite|axum)/;
  const directory = await screen.step('Install', () =>
    install(
      name,
      (line) => isLine.test(line) && process.stdout.isTTY && screen.print(screen.paint('dim', line.trim())),
    ),
  );
  return screen.step('Start', () => startEngine(name, directory));
}

async function testEngine(
  engine: StartedEngine,
  differences: readonly Difference[],
  screen: Screen,
): Promise<Result> {
  const startedAt = performance.now();
  const requests = await screen.step('Send requests', () => requestChecks(engine));
  const files = contractFilesNeeding(NEEDS[engine.name]);
  const counts = { passed: 0, failed: 0 };
  const tests = await screen.step('Run the contract suites', () =>
    runContractSuites(files, engine.settings, (passed) => {
      counts[passed ? 'passed' : 'failed'] += 1;
      const count = counts.passed + counts.failed;
      if (count % TESTS_BETWEEN_LINES === 0) screen.print(`    ${count} tests, ${counts.failed} failed`);
    }),
  );
  const comparison = compare(engine.name, [...requests, ...tests], differences);
  showComparison(engine.name, comparison, screen);
  return {
    engine: engine.name,
    comparison,
    ...(engine.startMs !== undefined && { startMs: engine.startMs }),
    testsMs: performance.now() - startedAt,
    failed: comparison.unexpected.length + comparison.obsolete.length > 0,
  };
}

const NEEDS = {
  'dynamodb-local': ['dynamoDb'],
  elasticmq: ['sqs'],
  dynoxide: ['dynamoDb', 'startDynamoDb'],
} as const;

async function requestChecks({ settings }: StartedEngine): Promise<Check[]> {
  if (settings.SQS_ENDPOINT !== undefined) return [];
  if (settings.DYNAMODB_ENDPOINT !== undefined) return checkRequests(settings.DYNAMODB_ENDPOINT);
  const directory = await temporaryDirectory();
  try {
    const binary = settings.DYNOXIDE_BIN;
    const engine = await startDynamoDb({
      directory: directory.path,
      ...(binary !== undefined && { binary }),
    });
    try {
      return await checkRequests(engine.endpoint);
    } finally {
      await engine.stop();
    }
  } finally {
    await directory.remove();
  }
}

function showComparison(
  engine: EngineName,
  { unexpected, obsolete }: Comparison,
  { paint, print }: Screen,
): void {
  for (const { name, reason = '' } of unexpected) {
    print(`\n  ${paint('red', '✗')} ${name}`);
    for (const line of reason.split('\n').slice(0, 6)) print(`    ${paint('dim', line.slice(0, 300))}`);
  }
  if (unexpected.length > 0) {
    print(
      '\n  Not in the table of docs/reference/engines.md. Fix the cause, or add the line with its reason:\n',
    );
    for (const { name } of unexpected) print(lineOf(engine, name, '…'));
  }
  if (obsolete.length > 0) {
    print('\n  In the table of docs/reference/engines.md, and did not fail. Delete the line:\n');
    for (const { check, reason } of obsolete) print(lineOf(engine, check, reason));
  }
}

async function testLocalRun(engines: readonly StartedEngine[], screen: Screen): Promise<Result> {
  const engine = `local run on ${engines.map(({ name }) => name).join(' and ')}`;
  const settings = Object.assign({}, ...engines.map((each) => each.settings));
  screen.print(`\n  ${screen.paint('bold', `A ${engine}`)}\n`);
  const startedAt = performance.now();
  try {
    const { readyAfterMs, attempts } = await screen.step('Deliver with one retry', () => runWhole(settings));
    return {
      engine,
      startMs: readyAfterMs,
      testsMs: performance.now() - startedAt,
      note: `delivered at attempt ${attempts}`,
      failed: false,
    };
  } catch (error) {
    const note = error instanceof Error ? error.message : String(error);
    screen.print(`\n${note}`);
    return { engine, note: note.split('\n')[0] ?? '', failed: true };
  }
}

function summary(results: readonly Result[], { paint }: Screen): string {
  const header = ['', 'passed', 'known', 'new', 'obsolete', 'start', 'tests', ''];
  const rows = results.map(({ engine, comparison, startMs, testsMs, note = '' }) => [
    engine,
    ...(comparison
      ? [
          comparison.passed,
          comparison.expected.length,
          comparison.unexpected.length,
          comparison.obsolete.length,
        ]
      : ['–', '–', '–', '–']
    ).map(String),
    ...[startMs, testsMs].map((ms) => (ms === undefined ? '–' : formatDuration(ms))),
    note,
  ]);
  const widths = header.map((_, column) =>
    Math.max(...[header, ...rows].map((row) => (row[column] ?? '').length)),
  );
  const lineOfRow = (row: readonly string[]) =>
    row
      .map((cell, column) => {
        const isText = column === 0 || column === row.length - 1;
        return isText ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
      })
      .join('  ')
      .trimEnd();
  const lines = rows.map((row, index) => {
    const isFailed = results[index]?.failed;
    const isSkipped = results[index]?.testsMs === undefined && !isFailed;
    const [symbol, style] = isFailed ? (['✗', 'red'] as const) : (['✓', 'green'] as const);
    return `  ${isSkipped ? paint('yellow', '–') : paint(style, symbol)} ${lineOfRow(row)}\n`;
  });
  return `    ${paint('dim', lineOfRow(header))}\n${lines.join('')}`;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
process.once('exit', endPrograms);
process.exitCode = await main(process.argv.slice(2));
