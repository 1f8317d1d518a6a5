import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type NamedProgram, startNamedProgram } from 'terminal/named-programs.ts';

const ROOT = join(import.meta.dirname, '..');

function write(file: string, text: string): void {
  writeFileSync(join(ROOT, file), text);
  process.stdout.write(`Wrote ${file}.\n`);
}

/** Prints the output of a workspace's script only if it fails. */
const runScript = (workspace: string, script: string): void => {
  execFileSync('npm', ['run', '--silent', '--workspace', workspace, script], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
};

/** In order: each may read what those before it write. */
const parts: Readonly<Record<string, NamedProgram>> = {
  grants: {
    about: 'lib/infra/grants/access.json, after a change of what a function asks of AWS',
    async start() {
      const { deriveAll, writtenOut } = await import('../lib/infra/grants/functions.ts');
      write('lib/infra/grants/access.json', writtenOut(deriveAll()));
    },
  },
  openapi: {
    about: 'docs/openapi/v1.json, after a change of routes, schemas or texts; --check, --help',
    async start() {
      const { openApiCommand } = await import('../lib/openapi/command.ts');
      process.exitCode = openApiCommand(process.argv.slice(2));
    },
  },
  schemas: {
    about: 'docs/schemas/event.json, after a change of event types',
    async start() {
      const { EVENT_SCHEMAS, eventSchemasText } = await import('../lib/openapi/event-schemas.ts');
      write(EVENT_SCHEMAS, eventSchemasText());
    },
  },
  sdk: {
    about:
      'routes of packages/sdk and docs/reference/typescript-client.md, after `openapi`, or a change of its methods',
    async start() {
      runScript('packages/sdk', 'coverage');
      process.stdout.write('Wrote packages/sdk/src/routes.gen.ts and docs/reference/typescript-client.md.\n');
    },
  },
  types: {
    about: 'types of the dashboard and of packages/sdk, after a change of routes; npm run lint does it too',
    async start() {
      const { writeTypes } = await import('../lib/openapi/types.ts');
      writeTypes();
      process.stdout.write('Wrote the types of the dashboard and of packages/sdk.\n');
    },
  },
  logs: {
    about: 'docs/reference/logs.md, after a change of log codes',
    async start() {
      const { LOGS_PAGE, logsPage } = await import('../lib/logs/page.ts');
      write(LOGS_PAGE, logsPage());
    },
  },
  coverage: {
    about: 'packages/aws-local/COVERAGE.md, after a change of what the package supports',
    async start() {
      runScript('aws-local', 'coverage');
      process.stdout.write('Wrote packages/aws-local/COVERAGE.md.\n');
    },
  },
  python: {
    about:
      'docs/reference/python-client.md, after `sdk`, and the modules of packages/sdk-python, which need Python 3.10; --page leaves these out',
    async start() {
      const args = [join(ROOT, 'packages/sdk-python/bin/generate.ts'), ...process.argv.slice(2)];
      process.exitCode = spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1;
    },
  },
};

async function everything(): Promise<void> {
  for (const [name, { start }] of Object.entries(parts)) {
    process.argv = [...process.argv.slice(0, 2), ...(name === 'python' ? ['--page'] : [])];
    await start();
    if (process.exitCode) return;
  }
}

const programs = {
  ...parts,
  templates: {
    about: 'cdk.out, the CloudFormation templates, as `npx cdk synth` writes them',
    start: () => import('./app.ts'),
  },
};

await startNamedProgram(
  'generate',
  'Writes files that are made of the code: without a name every committed one, in order; or the named part.',
  programs,
  { unnamed: everything },
);
