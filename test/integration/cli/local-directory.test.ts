import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openLocalDirectory } from '../../../lib/cli/start/local-directory.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const MODULE = new URL('../../../lib/cli/start/local-directory.ts', import.meta.url).href;
const open = (path: string, fresh = false) => openLocalDirectory(path, { shown: '.local', fresh });

/** Another process that holds the directory until it is killed. */
async function holderOf(path: string) {
  const script = `
    const { openLocalDirectory } = await import(${JSON.stringify(MODULE)});
    await openLocalDirectory(${JSON.stringify(path)}, { shown: '.local', fresh: false });
    console.log('held');
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const kill = async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { pid: child.pid, kill };
}

describe('the directory of the local run', () => {
  it('is made where there is none', async () => {
    const path = join(await temporaryDirectory(), 'a', 'b');
    const directory = await open(path);
    expect(directory).toMatchObject({ path, environmentFile: join(path, 'env') });
    expect(await readdir(path)).toEqual(expect.arrayContaining(['logs', 'state']));
    directory.release();
  });

  it('is never one that holds the files of someone else', async () => {
    const path = await temporaryDirectory();
    await writeFile(join(path, 'thesis.tex'), '');
    await expect(open(path, true)).rejects.toThrow('.local is not empty and was not made by the local run');
    expect(await readdir(path)).toEqual(['thesis.tex']);
  });

  it('loses with --fresh what the local run made, and nothing else', async () => {
    const path = await temporaryDirectory();
    (await open(path)).release();
    for (const name of ['cdk.out', 'mailbox']) await mkdir(join(path, name));
    for (const name of [
      'env',
      'outputs.json',
      'ca.pem',
      'ca-key.pem',
      'receiver-cert.pem',
      'state/dynamodb',
      'mailbox/a.eml',
      'notes.txt',
    ]) {
      await writeFile(join(path, name), '');
    }
    const directory = await open(path, true);
    expect((await readdir(path)).sort()).toEqual(
      ['.conversation-service-local', 'lock.sqlite', 'logs', 'notes.txt', 'pid', 'state'].sort(),
    );
    expect(await readdir(join(path, 'state'))).toEqual([]);
    directory.release();
  });

  it('keeps with --fresh what leads to processes that a killed run has left', async () => {
    const path = await temporaryDirectory();
    (await open(path)).release();
    await mkdir(join(path, 'state', 'engine'));
    for (const name of ['data.sqlite', 'data.sqlite.pid'])
      await writeFile(join(path, 'state', 'engine', name), '');
    const directory = await open(path, true);
    expect(await readdir(join(path, 'state', 'engine'))).toEqual(['data.sqlite.pid']);
    directory.release();
  });

  it('says so when it cannot be made', async () => {
    const path = await temporaryDirectory();
    await writeFile(join(path, 'file'), '');
    await expect(open(join(path, 'file', 'x'))).rejects.toThrow('.local cannot be used: ');
  });

  it('says so, and does not try for ever, where no entry can be made at all', async () => {
    await expect(open('/proc/no-such-entry')).rejects.toThrow('.local cannot be used: ENOENT');
  });

  it('belongs to one local run at a time', async () => {
    const path = await temporaryDirectory();
    const holder = await holderOf(path);
    await expect(open(path, true)).rejects.toThrow(
      `Another local run (pid ${holder.pid}) uses .local: stop it, or set LOCAL_DIR and PORT.`,
    );
    await holder.kill();
  });

  it('is free again at once when its local run was killed', async () => {
    const path = await temporaryDirectory();
    const holder = await holderOf(path);
    await holder.kill();
    const directory = await open(path);
    directory.release();
    (await open(path)).release();
  });
});
