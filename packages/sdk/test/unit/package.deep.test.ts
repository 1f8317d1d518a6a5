import { type ExecFileException, execFile, execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aBody, aSecret, signedHeaders } from '../signed-request.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const PACKAGE = join(ROOT, 'packages/sdk');
const project = mkdtempSync(join(tmpdir(), 'consumer-'));
afterAll(() => rmSync(project, { recursive: true, force: true }));

const save = (file: string, content: string): void => writeFileSync(join(project, file), content);

/** Runs a program in the consumer's project. @returns its exit code and everything that it printed */
const run = (program: string, ...args: string[]) =>
  new Promise<{ code: unknown; output: string }>((resolve) => {
    execFile(program, args, { cwd: project }, (error: ExecFileException | null, out, err) =>
      resolve({ code: error === null ? 0 : error.code, output: `${out}${err}` }),
    );
  });

const npm = (...args: string[]) => execFileSync('npm', args, { cwd: project, stdio: 'pipe' });
const build = () => npm('run', '--silent', '--prefix', PACKAGE, 'build');

const tarball = (): string => {
  const name = readdirSync(join(ROOT, 'artifacts')).find((file) =>
    file.startsWith('conversation-service-sdk'),
  );
  return join(ROOT, 'artifacts', name ?? '');
};

// As docs/guides/typescript-client.md says. The package has no dependencies, so no registry is needed.
beforeAll(() => {
  execFileSync(process.execPath, ['bin/pack.ts', 'sdk'], { cwd: ROOT, stdio: 'pipe' });
  save('package.json', JSON.stringify({ private: true, type: 'module' }));
  npm('install', '--silent', '--offline', '--no-audit', '--no-fund', tarball());
}, 120_000);

const CONSUMER = `
import { type Client, createClient, isApiError } from 'conversation-service-sdk';
import { fetchHandler, type ReceivedEvent, verify } from 'conversation-service-sdk/receiver';
import { createWidget } from 'conversation-service-sdk/widget';

const client: Client = createClient({ apiKey: 'ck_live_1', baseUrl: 'https://api.example.com' });
export async function start(): Promise<string> {
  const { id, secret } = await client.endpoints.register({
    url: 'https://receiver.example/hooks',
    events: ['conversation.created', 'ticket.created'],
  });
  // @ts-expect-error an unknown event type
  await client.endpoints.register({ url: 'https://receiver.example/hooks', events: ['ticket.made'] });
  // @ts-expect-error a missing field
  await client.conversations.create({ channelId: 'web' });
  for await (const event of client.events.list({ type: ['ticket.created'] })) if (event.id === id) return event.type;
  return secret;
}

export function read(event: ReceivedEvent): string {
  switch (event.type) {
    case 'conversation.created':
      return event.data.externalUserId;
    case 'ticket.created': {
      const conversationId: string | undefined = event.data.conversationId;
      // @ts-expect-error the data of another type
      return event.data.messageId ?? conversationId;
    }
    // @ts-expect-error a misspelled type
    case 'conversation.craeted':
      return 'no event has this type';
    default:
      return event.type;
  }
}

export const handler = fetchHandler({ secrets: 'whsec_AAAA' }, (event) => void read(event));
export const check = async (request: Request): Promise<string> => read(await verify(request, ['whsec_AAAA']));
export const widget = createWidget({ visitorToken: 'cvt_1', baseUrl: 'https://api.example.com' });
export const isMissing = (error: unknown): boolean => isApiError(error, 'NOT_FOUND') && error.details.length === 0;
`;

/** TypeScript 7 and the one of the dashboard, which generators need. */
const COMPILERS = ['package.json', 'dashboard/package.json'].map((workspace) => {
  const manifest = createRequire(join(ROOT, workspace)).resolve('typescript/package.json');
  return {
    version: createRequire(manifest)('./package.json').version,
    file: join(dirname(manifest), 'bin/tsc'),
  };
});
const RESOLUTIONS = [
  { moduleResolution: 'bundler', module: 'esnext' },
  { moduleResolution: 'node16', module: 'node16' },
  { moduleResolution: 'nodenext', module: 'nodenext' },
];
/** Where the types of requests come from. */
const PLATFORMS = {
  'a browser': { lib: ['es2022', 'dom', 'dom.iterable'], types: [] },
  'Node.js': { lib: ['es2022'], types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] },
};

describe('the packed package in another project', () => {
  const compile = (compiler: string, source: string, options: object) => {
    const compilerOptions = { strict: true, skipLibCheck: false, noEmit: true, target: 'es2022', ...options };
    save('tsconfig.json', JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
    save('consumer.ts', source);
    return run(process.execPath, compiler, '--project', '.');
  };

  const cases = COMPILERS.flatMap(({ version, file }) =>
    RESOLUTIONS.flatMap((resolution) =>
      Object.entries(PLATFORMS).map(([platform, options]) => ({
        name: `TypeScript ${version} with ${resolution.moduleResolution} for ${platform}`,
        file,
        options: { ...resolution, ...options },
      })),
    ),
  );

  // An expectation of an error that is none is an error too: the types are there.
  it.each(cases)('has types that $name compiles', async ({ file, options }) => {
    expect(await compile(file, CONSUMER, options)).toEqual({ code: 0, output: '' });
  });

  it('has types that refuse each mistake', async () => {
    const [{ file = '', options = {} } = {}] = cases;
    const mistakes = [...CONSUMER.matchAll(/@ts-expect-error/g)].length;
    const { code, output } = await compile(file, CONSUMER.replaceAll('@ts-expect-error', ''), options);
    expect([code === 0, output.match(/error TS/g)]).toEqual([false, Array(mistakes).fill('error TS')]);
  });
});

describe('the package', () => {
  it('is small, and has no dependencies', () => {
    const manifest = join(project, 'node_modules/conversation-service-sdk/package.json');
    const { dependencies, scripts, devDependencies } = JSON.parse(readFileSync(manifest, 'utf8'));
    expect([dependencies, scripts, devDependencies]).toEqual([undefined, undefined, undefined]);
    expect(statSync(tarball()).size / 1024).toBeLessThan(80);
  });

  it('has types for TypeScript before version 5.7, whose arrays of bytes have no parameter', () => {
    const files = readdirSync(join(PACKAGE, 'dist'), { recursive: true, encoding: 'utf8' });
    const types = files.filter((file) => file.endsWith('.d.ts'));
    expect(types.map((file) => readFileSync(join(PACKAGE, 'dist', file), 'utf8')).join()).not.toContain(
      'Uint8Array<',
    );
  });
});

describe('a repeated build', () => {
  const dist = join(PACKAGE, 'dist');
  const listFiles = () =>
    readdirSync(dist, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.js') || file.endsWith('.d.ts'))
      .map((file) => [file, statSync(join(dist, file)).ino, statSync(join(dist, file)).mtimeMs]);

  // An installation of the package may be copying them.
  it('leaves unchanged files alone', () => {
    const before = listFiles();
    build();
    expect(listFiles()).toEqual(before);
  });

  it('removes files without a source, and replaces those that differ', () => {
    const content = readFileSync(join(dist, 'wait.js'), 'utf8');
    writeFileSync(join(dist, 'gone.js'), '');
    appendFileSync(join(dist, 'wait.js'), '// changed\n');
    build();
    expect(existsSync(join(dist, 'gone.js'))).toBe(false);
    expect(readFileSync(join(dist, 'wait.js'), 'utf8')).toBe(content);
  });
});

const VERIFIER = (request: object, secret: string) => `
import { createClient } from 'conversation-service-sdk';
import { verify } from 'conversation-service-sdk/receiver';
import { createWidget } from 'conversation-service-sdk/widget';

const { body, headers } = ${JSON.stringify(request)};
const send = (text) => new Request('https://receiver.example', { method: 'POST', headers, body: text });
const { type, id } = await verify(send(body), '${secret}');
const refused = await verify(send(body + ' '), '${secret}').catch(({ problem }) => problem);
console.log([type, id, refused, typeof createClient, typeof createWidget].join(' '));
`;

describe.each([
  ['Node.js', process.execPath, []],
  ["the machine's Node.js", '/usr/bin/node', []],
  ['Deno', 'deno', ['run']],
  ['Bun', 'bun', ['run']],
])('the packed package in %s', (name, program, args) => {
  const isInstalled = isProgram(program);
  if (!isInstalled) process.stderr.write(`NOT TESTED: the package in ${name}, which is not installed\n`);

  it.skipIf(!isInstalled)('loads, verifies a request and refuses a changed one', async () => {
    const [body, at, secret] = [aBody({}), new Date(), aSecret()];
    const headers = signedHeaders(new Webhook(secret).sign('evt_1', at, body), at);
    save('verifier.mjs', VERIFIER({ body, headers }, secret));
    expect(await run(program, ...args, 'verifier.mjs')).toEqual({
      code: 0,
      output: 'webhook.test evt_1 signature_mismatch function function\n',
    });
  });
});

function isProgram(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
