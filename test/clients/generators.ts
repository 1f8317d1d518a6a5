import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
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
  /** Uses the client, with `BASE_URL`, `API_KEY` and `RECEIVER` of its environment. */
  use?: (tools: string, client: string) => readonly Command[];
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

/** Copies a program that uses the client beside it. */
const sample = (name: string, target: string): Command[] => [
  ['mkdir', '-p', dirname(target)],
  ['cp', join(SAMPLES, name), target],
];

/** A build of several minutes, which stays with the generator. */
const cargo = (tools: string, client: string, command: string, ...options: string[]): Command => [
  ...(['env', `CARGO_TARGET_DIR=${join(tools, 'target')}`, 'cargo', command] as const),
  ...['--manifest-path', join(client, 'Cargo.toml'), ...options],
];

const onClasspath = (client: string, program: string, argument: string): Command => [
  ...(['sh', '-c'] as const),
  `cd ${client} && ${program} -cp "target/classes:sample:$(cat classpath)" ${argument}`,
];

const GENERATOR_VERSION = '7.25.0';

/** A generator of openapi-generator, with a client in its language. */
const openApiGenerator = (
  language: string,
  {
    needs,
    options = [],
    ...rest
  }: Pick<Generator, 'needs' | 'compile' | 'types' | 'use'> & { options?: string[] },
): Generator => ({
  name: `openapi-generator (${language})`,
  version: GENERATOR_VERSION,
  needs: [['java', '-version'], ['mvn', '--version'], ...needs],
  install: (tools) => [
    [
      'mvn',
      ...['-q', '-B', 'dependency:copy', `-DoutputDirectory=${tools}`],
      `-Dartifact=org.openapitools:openapi-generator-cli:${GENERATOR_VERSION}`,
    ],
  ],
  generate: (tools, client) => [
    [
      ...(['java', '-jar', join(tools, `openapi-generator-cli-${GENERATOR_VERSION}.jar`)] as const),
      ...['generate', '-g', language, '-i', DOCUMENT, '-o', client, ...options],
    ],
  ],
  ...rest,
});

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
    use: (tools, client) => [
      ['env', `PYTHONPATH=${client}`, join(tools, 'bin/python'), join(SAMPLES, 'conversation.py')],
    ],
  },
  openApiGenerator('go', {
    needs: [['go', 'version']],
    options: [
      ...['--git-user-id', 'example', '--git-repo-id', 'conversations', '--additional-properties'],
      'packageName=conversations,disallowAdditionalPropertiesIfNotPresent=false',
    ],
    compile: (_, client) => [
      ...sample('conversation.go.txt', join(client, 'sample/main.go')),
      ['go', '-C', client, 'mod', 'tidy'],
      ['go', '-C', client, 'build', './...'],
    ],
    types: (client) => filesIn(client, /^model_.*\.go$/),
    use: (_, client) => [['go', '-C', client, 'run', './sample']],
  }),
  openApiGenerator('python', {
    needs: [['python3', '--version']],
    options: ['--package-name', 'conversations'],
    compile: (_, client) => [
      ['python3', '-m', 'venv', join(client, 'venv')],
      [join(client, 'venv/bin/pip'), 'install', '--quiet', '-r', join(client, 'requirements.txt')],
      // Not `api`: its module of webhook events is no valid Python, and nothing imports it.
      ['python3', '-m', 'compileall', '-q', join(client, 'conversations/models')],
    ],
    types: (client) => filesIn(join(client, 'conversations/models'), /^(?!__).*\.py$/),
    use: (_, client) => [
      ['env', `PYTHONPATH=${client}`, join(client, 'venv/bin/python'), join(SAMPLES, 'tickets.py')],
    ],
  }),
  openApiGenerator('typescript-fetch', {
    needs: [],
    compile: (_, client) => [
      ...sample('tickets.ts.txt', join(client, 'tickets.ts')),
      [
        join(ROOT, 'node_modules/.bin/tsc'),
        ...[...CHECKED, ...BUNDLED, '--ignoreConfig', join(client, 'tickets.ts')],
        ...['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')],
      ],
      [
        join(ROOT, 'node_modules/.bin/esbuild'),
        ...[join(client, 'tickets.ts'), '--bundle', '--platform=node', '--format=esm', '--log-level=error'],
        `--outfile=${join(client, 'tickets.mjs')}`,
      ],
    ],
    types: (client) => filesIn(join(client, 'models'), /^(?!index).*\.ts$/),
    use: (_, client) => [[process.execPath, join(client, 'tickets.mjs')]],
  }),
  openApiGenerator('rust', {
    needs: [['cargo', '--version']],
    options: ['--additional-properties', 'packageName=conversations'],
    compile: (tools, client) => [
      ...sample('tickets.rs.txt', join(client, 'examples/tickets.rs')),
      cargo(tools, client, 'add', '--quiet', '--dev', 'tokio', '--features', 'macros,rt-multi-thread'),
      cargo(tools, client, 'build', '--quiet', '--example', 'tickets'),
    ],
    types: (client) => filesIn(join(client, 'src/models'), /^(?!mod).*\.rs$/),
    use: (tools, client) => [cargo(tools, client, 'run', '--quiet', '--example', 'tickets')],
  }),
  openApiGenerator('java', {
    needs: [['javac', '-version']],
    compile: (_, client) => [
      ...sample('Tickets.java.txt', join(client, 'sample/Tickets.java')),
      [
        'mvn',
        ...[
          '-q',
          '-B',
          '-DskipTests',
          '-f',
          join(client, 'pom.xml'),
          'compile',
          'dependency:build-classpath',
        ],
        `-Dmdep.outputFile=${join(client, 'classpath')}`,
      ],
      onClasspath(client, 'javac', 'sample/Tickets.java'),
    ],
    types: (client) =>
      filesIn(join(client, 'src/main/java/org/openapitools/client/model'), /^(?!AbstractOpenApi).*\.java$/),
    use: (_, client) => [onClasspath(client, 'java', 'Tickets')],
  }),
  {
    name: 'oapi-codegen',
    version: '2.8.2',
    needs: [['go', 'version']],
    install: (tools) => [
      [
        ...(['env', `GOBIN=${tools}`, 'go', 'install'] as const),
        'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2',
      ],
    ],
    generate: (tools, client) => [
      [
        join(tools, 'oapi-codegen'),
        ...['-generate', 'types,client,skip-prune', '-package', 'conversations'],
        ...['-o', join(client, 'client.go'), DOCUMENT],
      ],
    ],
    compile: (_, client) => [
      ...sample('oapi-codegen.go.txt', join(client, 'sample/main.go')),
      ['go', '-C', client, 'mod', 'init', 'example.com/conversations'],
      ['go', '-C', client, 'mod', 'tidy'],
      ['go', '-C', client, 'build', './...'],
    ],
    types: (client) => linesIn(join(client, 'client.go'), /^type \w+ struct/gm),
    use: (_, client) => [['go', '-C', client, 'run', './sample']],
  },
];

/** The programs of the machine that a generator lacks. */
export async function missingPrograms({ needs }: Generator): Promise<string[]> {
  const installed = await Promise.all(needs.map(([program, version]) => isInstalled(program, version)));
  return needs.filter((_, index) => !installed[index]).map(([program]) => program);
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
