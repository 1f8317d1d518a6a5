import { execFileSync } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../../packages/cli/src/program.ts';

async function script(shell: string): Promise<string> {
  const stdout = new PassThrough();
  const [stdin, stderr] = [new PassThrough(), new PassThrough()];
  const { signal } = new AbortController();
  const { program } = createProgram({ variables: {}, cwd: '/', stdin, stdout, stderr, signal });
  await program.parseAsync(['completion', shell], { from: 'user' });
  return String(stdout.read());
}

/** What bash offers for the last word. */
async function offers(...words: string[]): Promise<string[]> {
  const line = ['conversations', ...words].map((word) => `'${word}'`).join(' ');
  const ask = `COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _conversations conversations '${words.at(-1)}'; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', `${await script('bash')}\n${ask}`], { encoding: 'utf8' })
    .split('\n')
    .filter(Boolean);
}

describe('completion', () => {
  it('offers commands, options and event types in bash', async () => {
    expect(await offers('ev')).toEqual(['events']);
    expect(await offers('events', '')).toEqual(expect.arrayContaining(['tail', 'list', 'show']));
    expect(await offers('events', 'tail', '--s')).toEqual(['--sandbox', '--since']);
    expect(await offers('trigger', 'conv')).toEqual([
      'conversation.created',
      'conversation.resolved',
      'conversation.deleted',
    ]);
    expect(await offers('--no-such', 'trigger', 'message.received', '--t')).toEqual(['--text']);
  });

  it.each([
    ['zsh', "'events tail') candidates=("],
    [
      'fish',
      "complete -c conversations -n '__fish_seen_subcommand_from events; and __fish_seen_subcommand_from tail' -l since -r",
    ],
  ])('has a script for %s', async (shell, line) => {
    expect(await script(shell)).toContain(line);
  });
});
