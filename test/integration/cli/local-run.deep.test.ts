import { execFileSync } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort, holdPort } from 'aws-local/engines/free-port.ts';
import { PATIENCE } from 'aws-local/test/patience.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Program, startProgram, untilGone } from './program.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const PROGRAM = 'test/integration/cli/run-with-fake-cloud.ts';

async function start(env: Record<string, string> = {}, args: string[] = [], directory?: string) {
  const path = directory ?? join(await temporaryDirectory(), 'local');
  const program = startProgram(PROGRAM, args, { PORT: '0', LOCAL_DIR: path, ...env });
  return { program, path };
}

const readEnginePid = async (program: Program) => Number((await program.shows(/engine (\d+)/))[1]);

describe('the local run', { timeout: 60_000 * PATIENCE }, () => {
  it('starts, shows a verified delivery and the next steps', async () => {
    const { program } = await start();
    await program.shows(/Ready +http:\/\/localhost:\d+\/api\/v1/);
    const output = program.output();
    expect(output).toMatch(/✓ Synthesize the stack +\d+ ms/);
    expect(output).toMatch(/✓ Prepare an organization .*org_fake\n/);
    expect(output).toMatch(/✓ Prepare its sandbox .*org_sandbox\n/);
    expect(output).toMatch(/conversation\.created {2}attempt 1 {2}✓ verified/);
    expect(output).not.toContain('\u001b');
  });

  it('writes an environment file that a shell can use', async () => {
    const { program, path } = await start();
    const [, baseUrl] = await program.shows(/Ready +(http:\/\/localhost:\d+)/);
    const file = join(path, 'env');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const script = `. "${file}" && ls "$CA_FILE" "$RECEIVER_CERT_FILE" "$RECEIVER_KEY_FILE" && echo "$BASE_URL $API_KEY $ORG_ID $MAILBOX_URL"`;
    expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' })).toContain(
      `${baseUrl} ck_live_fake org_fake ${baseUrl}/mailbox\n`,
    );
  });

  it('writes a key of its sandbox, and shows how to use it', async () => {
    const { program, path } = await start();
    await program.shows(/Ready/);
    const script = `. "${path}/env" && echo "$SANDBOX_API_KEY $SANDBOX_ORG_ID"`;
    expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' })).toBe('ck_sandbox_fake org_sandbox\n');
    expect(program.output()).toContain('npx conversations listen --sandbox');
  });

  it('writes no tokens when the stack has no user pool', async () => {
    const { program, path } = await start({ FAKE_PEOPLE: 'no' });
    await program.shows(/Ready/);
    expect(await readFile(join(path, 'env'), 'utf8')).not.toMatch(/TOKEN|OIDC|SANDBOX/);
    expect(program.output()).not.toMatch(/ADMIN_TOKEN|sandbox/);
  });

  it('passes its own URL and the given settings to the stack', async () => {
    const { program } = await start({ RATE_LIMIT_PER_MINUTE: '30', SANDBOX_RATE_LIMIT_PER_MINUTE: '20' });
    const [, baseUrl] = await program.shows(/Ready +(http:\/\/localhost:\d+)/);
    const [, context = ''] = await program.shows(/^context (.*)$/m);
    expect(JSON.parse(context)).toEqual({
      stage: 'dev',
      settings: {
        class: 'development',
        lowCost: false,
        redeliveryGroup: 1,
        rateLimits: { scale: 30, standard: 30, sandbox: 20 },
        dashboard: { origin: baseUrl },
        mailFrom: 'notifications@local.test',
      },
    });
  });

  it('reserves its port before the stack gets its URL', async () => {
    const { program } = await start({ FAKE_START: 'hangs' });
    const [, context = ''] = await program.shows(/^context (.*)$/m);
    const port = Number(new URL(JSON.parse(context).settings.dashboard.origin).port);
    expect(await freePort(port)).not.toBe(port);
  });

  it('reports before the synthesis that the port is taken', async () => {
    const port = await freePort();
    const release = await holdPort(port);
    onTestFinished(release);
    const { program } = await start({ PORT: String(port) });
    expect(await program.ended).toBe(1);
    expect(program.errors()).toContain(
      `Port ${port} is taken. Choose another one: PORT=${port + 1} npm start`,
    );
    expect(program.output()).not.toContain('Synthesize');
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('stops cleanly on %s', async (signal) => {
    const { program } = await start();
    const engine = await readEnginePid(program);
    await program.shows(/Ready/);
    program.signal(signal);
    expect(await program.ended).toBe(0);
    expect(program.output()).toMatch(/Stopped in .*The state stays in .*\n$/);
    expect(program.errors()).toBe('');
    await untilGone(engine);
  });

  it('counts two signals of one keystroke as one', async () => {
    const { program } = await start();
    await program.shows(/Ready/);
    program.signal('SIGINT');
    program.signal('SIGINT');
    expect(await program.ended).toBe(0);
    expect(program.output()).toMatch(/Stopped in/);
  });

  it('kills its processes when stopping takes too long', async () => {
    const { program } = await start({ FAKE_STOP: 'hangs' });
    const engine = await readEnginePid(program);
    await program.shows(/Ready/);
    program.signal('SIGTERM');
    expect(await program.ended).toBe(0);
    expect(program.output()).toContain('Stopped by force.');
    await untilGone(engine);
  });

  it('can be stopped while it starts', async () => {
    const { program } = await start({ FAKE_START: 'hangs' });
    await program.shows(/Synthesize/);
    program.signal('SIGINT');
    expect(await program.ended).toBe(0);
  });

  it('keeps its organization at the next start, and creates another with --fresh', async () => {
    const { program: first, path } = await start();
    await first.shows(/Ready/);
    first.signal('SIGTERM');
    await first.ended;

    const { program: second } = await start({}, [], path);
    await second.shows(/org_fake, kept/);
    await second.shows(/org_sandbox, kept/);
    await second.shows(/Ready/);
    second.signal('SIGTERM');
    await second.ended;

    const { program: third } = await start({}, ['--fresh'], path);
    await third.shows(/Ready/);
    expect(third.output()).not.toContain('kept');
  });

  it('keeps the organization that an earlier version has written', async () => {
    const { program: first, path } = await start();
    await first.shows(/Ready/);
    first.signal('SIGTERM');
    await first.ended;
    const file = join(path, 'env');
    const written = await readFile(file, 'utf8');
    await writeFile(file, written.replaceAll(/^export (\w+_TOKEN|OIDC_\w+|SANDBOX_\w+)=.*\n/gm, ''));

    const { program: second } = await start({}, [], path);
    await second.shows(/org_fake, kept/);
    await second.shows(/Ready/);
    const rewritten = await readFile(file, 'utf8');
    expect(rewritten).toContain("export ADMIN_TOKEN='token-of-0'");
    expect(rewritten).toContain("export SANDBOX_API_KEY='ck_sandbox_fake'");
  });

  it('prints warnings of the functions, and everything with --verbose', async () => {
    const { program, path } = await start();
    await program.shows(/Ready/);
    expect(program.output()).toContain('warn  Fake loud');
    expect(program.output()).not.toContain('quiet');
    expect(await readFile(join(path, 'logs', 'functions.log'), 'utf8')).toContain('"quiet"');

    const { program: verbose } = await start({}, ['--verbose']);
    await verbose.shows(/"message":"quiet"/);
  });

  it('demonstrates at the same URL at each start', async () => {
    const { program: first, path } = await start();
    await first.shows(/Ready/);
    first.signal('SIGTERM');
    await first.ended;
    const readPort = async () => JSON.parse(await readFile(join(path, 'demonstration.json'), 'utf8')).port;
    const port = await readPort();

    const { program: second } = await start({}, [], path);
    await second.shows(/Ready/);
    expect(await readPort()).toBe(port);
  });
});
