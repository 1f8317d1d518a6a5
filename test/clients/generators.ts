import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isInstalled, ProgramError, runProgram } from '../engines/program.ts';

const ROOT = join(import.meta.dirname, '../..');
const DOCUMENT = join(ROOT, 'docs/openapi/v1.json');
const SAMPLES = join(import.meta.dirname, 'samples');
/** Not versioned. A complete installation has a file of this name: a virtual environment cannot be moved. */
const INSTALLED = 'installed';
const CACHE = join(ROOT, '.clients');

type Command = readonly [program: string, ...args: string[]];

/** A generator of clients: how it is installed, what it writes, and how that is compiled and used. */
export interface Generator {
  name: string;
  version: string;
  /** Programs of the machine, each with the option that prints its version. */
  needs: readonly (readonly [program: string, version: string])[];
  /** @param tools its own directory, empty before */
  install: (tools: string) => readonly Command[];
  generate: (tools: string, client: string) => readonly Command[];
  compile: (tools: string, client: string) => readonly Command[];
  /** Counts the types that it wrote. */
  types: (client: string) => Promise<number>;
  /** The most types that it may write, where they are files that people look through. */
  most?: number;
  /** Makes a conversation, with `BASE_URL` and `API_KEY` of its environment. */
  talk?: (tools: string, client: string) => readonly Command[];
}

const linesIn = async (file: string, pattern: RegExp): Promise<number> =>
  (await readFile(file, 'utf8')).match(pattern)?.length ?? 0;
const filesIn = async (directory: string, pattern: RegExp): Promise<number> =>
  (await readdir(directory)).filter((name) => pattern.test(name)).length;

const CHECKED = [
  '--noEmit',
  '--strict',
  '--skipLibCheck',
  '--target',
  'es2023',
  '--lib',
  'es2023,dom,dom.iterable',
];
const BUNDLED = ['--module', 'esnext', '--moduleResolution', 'bundler'];

export const GENERATORS: readonly Generator[] = [
  {
    name: 'openapi-typescript',
    version: '7.13.0',
    needs: [],
    install: () => [],
    generate: (_, client) => [
      [
        join(ROOT, 'dashboard/node_modules/.bin/openapi-typescript'),
        DOCUMENT,
        '-o',
        join(client, 'schema.d.ts'),
      ],
    ],
    compile: (_, client) => [
      [join(ROOT, 'node_modules/.bin/tsc'), ...CHECKED, '--ignoreConfig', join(client, 'schema.d.ts')],
    ],
    types: (client) => linesIn(join(client, 'schema.d.ts'), /^ {8}\w+: /gm),
  },
  {
    name: '@hey-api/openapi-ts',
    version: '0.95.0',
    needs: [['npm', '--version']],
    install: (tools) => [
      ['npm', 'install', '--prefix', tools, '@hey-api/openapi-ts@0.95.0', 'typescript@5.9.3'],
    ],
    generate: (tools, client) => [
      [
        join(tools, 'node_modules/.bin/openapi-ts'),
        '-i',
        DOCUMENT,
        '-o',
        client,
        '-c',
        '@hey-api/client-fetch',
      ],
    ],
    compile: (tools, client) => [
      [join(tools, 'node_modules/.bin/tsc'), ...CHECKED, ...BUNDLED, join(client, 'index.ts')],
    ],
    types: (client) => linesIn(join(client, 'types.gen.ts'), /^export type /gm),
  },
  {
    name: 'openapi-python-client',
    version: '0.29.1',
    needs: [['python3', '--version']],
    install: (tools) => [
      ['python3', '-m', 'venv', tools],
      [join(tools, 'bin/pip'), 'install', '--quiet', 'openapi-python-client==0.29.1'],
    ],
    generate: (tools, client) => [
      [
        join(tools, 'bin/openapi-python-client'),
        ...['generate', '--path', DOCUMENT, '--output-path', client, '--overwrite'],
      ],
    ],
    compile: (tools, client) => [[join(tools, 'bin/python'), '-m', 'compileall', '-q', client]],
    types: (client) => filesIn(join(client, 'conversation_service_api_client/models'), /^(?!__).*\.py$/),
    most: 250,
    talk: (tools, client) => [
      ['env', `PYTHONPATH=${client}`, join(tools, 'bin/python'), join(SAMPLES, 'conversation.py')],
    ],
  },
  {
    name: 'openapi-generator (go)',
    version: '7.14.0',
    needs: [
      ['java', '-version'],
      ['mvn', '--version'],
      ['go', 'version'],
    ],
    install: (tools) => [
      [
        'mvn',
        ...['-q', '-B', 'dependency:copy', `-DoutputDirectory=${tools}`],
        '-Dartifact=org.openapitools:openapi-generator-cli:7.14.0',
      ],
    ],
    generate: (tools, client) => [
      [
        'java',
        ...['-jar', join(tools, 'openapi-generator-cli-7.14.0.jar'), 'generate', '-g', 'go'],
        ...['-i', DOCUMENT, '-o', client, '--git-user-id', 'example', '--git-repo-id', 'conversations'],
        ...[
          '--additional-properties',
          'packageName=conversations,disallowAdditionalPropertiesIfNotPresent=false',
        ],
      ],
      ['mkdir', '-p', join(client, 'sample')],
      ['cp', join(SAMPLES, 'conversation.go.txt'), join(client, 'sample/main.go')],
    ],
    compile: (_, client) => [
      ['go', '-C', client, 'mod', 'tidy'],
      ['go', '-C', client, 'build', './...'],
    ],
    types: (client) => filesIn(client, /^model_.*\.go$/),
    talk: (_, client) => [['go', '-C', client, 'run', './sample']],
  },
];

/** The programs of the machine that a generator lacks. */
export async function missingPrograms({ needs }: Generator): Promise<string[]> {
  const found = await Promise.all(needs.map(([program, version]) => isInstalled(program, version)));
  return needs.filter((_, index) => !found[index]).map(([program]) => program);
}

/** Installs a generator unless an earlier run did. @returns its directory */
export async function install(generator: Generator): Promise<string> {
  const directory = join(CACHE, `${generator.name.replaceAll(/[^\w.-]/g, '')}-${generator.version}`);
  if (existsSync(join(directory, INSTALLED))) return directory;
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  await runAll(generator.install(directory));
  await writeFile(join(directory, INSTALLED), '');
  return directory;
}

/** Runs commands one after the other. @throws ProgramError with the output of the first that fails */
export async function runAll(commands: readonly Command[], env?: NodeJS.ProcessEnv): Promise<void> {
  for (const [program, ...args] of commands) {
    const { code, printed } = await runProgram(program, args, { cwd: ROOT, env: { ...process.env, ...env } });
    if (code !== 0) throw new ProgramError(`${program} ${args.join(' ')} ended with ${code}:\n${printed}`);
  }
}
