import { among, commandLine, repeatable } from 'terminal/command-line.ts';
import { createScreen, type Screen } from 'terminal/screen.ts';
import { endPrograms } from '../engines/program.ts';
import { temporaryDirectory } from '../support/local-run.ts';
import { type Service, startService } from '../support/service.ts';
import { aTenant } from '../support/tenant.ts';
import { GENERATORS, type Generator, install, missingPrograms, runAll } from './generators.ts';

interface Result {
  generator: Generator;
  types?: number;
  /** Why it was skipped, or what failed. */
  note: string;
  status: 'passed' | 'skipped' | 'failed';
}

async function main(args: readonly string[]): Promise<number> {
  const { only = GENERATORS.map(({ name }) => name) } = commandLine(
    'node test/clients/run.ts',
    'Generates a client of docs/openapi/v1.json with each generator, compiles it, and uses it in a service of its own on this machine.',
  )
    .option(
      '--only <generator>',
      'may be repeated (all)',
      repeatable(among(GENERATORS.map(({ name }) => name))),
    )
    .addHelpText(
      'after',
      `
${GENERATORS.map(({ name, version }) => `${name} ${version}`).join(', ')}. They are installed with npm, pip, mvn and go and
stay in .clients. A generator whose programs this machine lacks is skipped. Exits with 1 when another one fails.`,
    )
    .parse(args as string[], { from: 'user' })
    .opts();
  const screen = createScreen(process.stdout);
  const results: Result[] = [];
  await using running = new AsyncDisposableStack();
  let service: Promise<Service> | undefined;
  const started = () => {
    service ??= startService().then((it) => {
      running.defer(() => it.stop());
      return it;
    });
    return service;
  };
  for (const generator of GENERATORS.filter(({ name }) => only.includes(name))) {
    screen.print(`\n  ${screen.paint('bold', `${generator.name} ${generator.version}`)}\n`);
    results.push(await check(generator, started, screen));
  }
  screen.print(`\n${results.map((result) => summary(result, screen)).join('\n')}\n`);
  return results.some(({ status }) => status === 'failed') ? 1 : 0;
}

async function check(generator: Generator, started: () => Promise<Service>, screen: Screen): Promise<Result> {
  const missing = await missingPrograms(generator);
  if (missing.length > 0)
    return { generator, status: 'skipped', note: `needs ${missing.join(' and ')}, which this machine lacks` };
  const client = await temporaryDirectory();
  try {
    const tools = await screen.step('Install', () => install(generator));
    await screen.step('Generate', () => runAll(generator.generate(tools, client.path)));
    await screen.step('Compile', () => runAll(generator.compile(tools, client.path)));
    const types = await generator.types(client.path);
    const { most = Infinity, use } = generator;
    if (types > most) return { generator, types, status: 'failed', note: `more than ${most} types` };
    if (use !== undefined) {
      const service = await screen.step('Start the service', started);
      const tenant = await aTenant(service);
      try {
        const env = { BASE_URL: service.url, API_KEY: tenant.key, RECEIVER: service.receiver };
        await screen.step('Use the client', () => runAll(use(tools, client.path), env));
      } finally {
        tenant.close();
      }
    }
    return { generator, types, status: 'passed', note: '' };
  } catch (error) {
    const note = error instanceof Error ? error.message : String(error);
    screen.print(`\n${note}`);
    return { generator, status: 'failed', note: 'see above' };
  } finally {
    await client.remove();
  }
}

const SYMBOLS = { passed: ['✓', 'green'], skipped: ['–', 'yellow'], failed: ['✗', 'red'] } as const;

function summary({ generator, types, note, status }: Result, { paint }: Screen): string {
  const [symbol, style] = SYMBOLS[status];
  const count = types === undefined ? '' : `${types} types`;
  const what = status === 'skipped' ? `SKIPPED: ${note}` : note;
  return `  ${paint(style, symbol)} ${generator.name.padEnd(36)} ${count.padEnd(10)} ${what}`.trimEnd();
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
process.once('exit', endPrograms);
process.exitCode = await main(process.argv.slice(2));
