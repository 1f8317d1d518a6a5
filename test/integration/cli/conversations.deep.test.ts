import { freePort } from 'aws-local/engines/free-port.ts';
import { PATIENCE } from 'aws-local/test/patience.ts';
import { describe, expect, it } from 'vitest';
import { aLocalRun } from './a-local-run.ts';
import { startProgram } from './program.ts';

const PROGRAM = 'packages/cli/bin/conversations.js';

describe('conversations as a process', { timeout: 60_000 * PATIENCE }, () => {
  it('stops in order at a signal, and deletes the endpoint of listen', async () => {
    const { api, directory } = await aLocalRun();
    const program = startProgram(PROGRAM, ['listen'], { LOCAL_DIR: directory });
    await program.shows(/Listening as whk_1/);
    program.signal('SIGINT');
    expect(await program.ended).toBe(0);
    expect(api.endpoints.size).toBe(0);
  });

  it('has the exit code of its error, and explains its commands', async () => {
    const failed = startProgram(PROGRAM, ['events', 'list'], {
      CONVERSATIONS_BASE_URL: `http://127.0.0.1:${await freePort()}`,
      CONVERSATIONS_API_KEY: 'ck_sandbox_x',
    });
    expect(await failed.ended).toBe(4);
    expect(failed.errors()).toContain('nothing listens there');
    const help = startProgram(PROGRAM, ['events', 'tail', '--help'], {});
    expect(await help.ended).toBe(0);
    const wrong = startProgram(PROGRAM, ['listen', '--status', 'ok'], {});
    expect(await wrong.ended).toBe(2);
    expect(wrong.errors()).toContain("option '--status <list>' argument 'ok' is invalid");
    expect(help.output()).toMatch(
      /^Usage: conversations events tail \[options\][\s\S]*Examples:\n {2}conversations events tail\n/,
    );
  });
});
