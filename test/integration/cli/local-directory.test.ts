import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openLocalDirectory } from '../../../lib/local-run/start/local-directory.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const MODULE = new URL('../../../lib/local-run/start/local-directory.ts', import.meta.url).href;
const open = (path: string, fresh = false) => openLocalDirectory(path, { shown: '.local', fresh });

/** Another process that locks the directory until it is killed. */
async function startHolder(path: string) {
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
  it('is created if missing', async () => {
    const path = join(await temporaryDirectory(), 'a', 'b');
    const directory = await open(path);
    expect(directory).toMatchObject({ path, environmentFile: join(path, 'env') });
    expect(await readdir(path)).toEqual(expect.arrayContaining(['logs', 'state']));
    directory.release();
  });

  it('is refused if it contains other files', async () => {
    const path = await temporaryDirectory();
    await writeFile(join(path, 'thesis.tex'), '');
    await expect(open(path, true)).rejects.toThrow('.local is not empty and was not made by the local run');
    expect(await readdir(path)).toEqual(['thesis.tex']);
  });

  it('loses only the files of the local run with --fresh', async () => {
    const path = await temporaryDirectory();
    (await open(path)).release();
    for (const name of ['cdk.out', 'mailbox']) await mkdir(join(path, name));
    for (const name of [
      'env',
      'outputs.json',
      'demonstration.json',
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

  it('keeps with --fresh the files that lead to processes of a killed run', async () => {
    const path = await temporaryDirectory();
    (await open(path)).release();
    await mkdir(join(path, 'state', 'engine'));
    for (const name of ['data.sqlite', 'data.sqlite.pid'])
      await writeFile(join(path, 'state', 'engine', name), '');
    const directory = await open(path, true);
    expect(await readdir(join(path, 'state', 'engine'))).toEqual(['data.sqlite.pid']);
    directory.release();
  });

  it('reports that it cannot be created', async () => {
    const path = await temporaryDirectory();
    await writeFile(join(path, 'file'), '');
    await expect(open(join(path, 'file', 'x'))).rejects.toThrow('.local cannot be used: ');
  });

  it('reports that it is not writable, without endless retries', async () => {
    await expect(open('/proc/no-such-entry')).rejects.toThrow('.local cannot be used: ENOENT');
  });

  it('belongs to one local run at a time', async () => {
    const path = await temporaryDirectory();
    const holder = await startHolder(path);
    await expect(open(path, true)).rejects.toThrow(
      `Another local run (pid ${holder.pid}) uses .local: stop it, or set LOCAL_DIR and PORT.`,
    );
    await holder.kill();
  });

  it('is available again as soon as its local run is killed', async () => {
    const path = await temporaryDirectory();
    const holder = await startHolder(path);
    await holder.kill();
    const directory = await open(path);
    directory.release();
    (await open(path)).release();
  });
});
