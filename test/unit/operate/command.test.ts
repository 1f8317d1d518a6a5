import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { operateCommand } from '../../../lib/operate/command.ts';

/** No program listens on this port: it needs privileges, and has no service. */
const STOPPED = 'http://127.0.0.1:1';

describe('a command on the local run', () => {
  let directory = '';
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'operate-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    writeFileSync(
      join(directory, 'outputs.json'),
      JSON.stringify({
        region: 'us-east-1',
        endpoints: { dynamodb: STOPPED, sqs: STOPPED, secretsManager: STOPPED, lambda: STOPPED },
        outputs: { TableService: 'Service' },
      }),
    );
  });

  async function operate(...args: string[]) {
    const [output, errors] = [new PassThrough(), new PassThrough()];
    const code = await operateCommand(args, {
      variables: { LOCAL_DIR: directory },
      output,
      errors,
      now: () => new Date(),
    });
    output.end();
    errors.end();
    return { code, output: await text(output), errors: await text(errors) };
  }

  it('that is stopped says how to start it', async () => {
    expect(await operate('host', 'list', '--local')).toEqual({
      code: 1,
      output: '',
      errors: `✗ The local run in ${directory} is not running. Start it with npm start.\n`,
    });
  });

  it('that changes something says without --yes what it would do, which is no failure', async () => {
    expect(await operate('host', 'block', 'hooks.example.com', '--local')).toEqual({
      code: 1,
      output: '',
      errors: `– hooks.example.com and its subdomains would be blocked: nothing would be sent to them (local run in ${directory}). Nothing was done: repeat with --yes, or with --dry-run to see more.\n`,
    });
  });
});
