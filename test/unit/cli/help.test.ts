import { execFileSync } from 'node:child_process';
import { PassThrough } from 'node:stream';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { describe, expect, it, vi } from 'vitest';
import { createProgram } from '../../../packages/cli/src/program.ts';

const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
const { signal } = new AbortController();
const { program } = createProgram({ variables: {}, cwd: '/', stdin, stdout, stderr, signal });
const all = (command: CommandUnknownOpts): CommandUnknownOpts[] => [
  command,
  ...command.commands.flatMap(all),
];

/** The help of a command on a terminal of so many columns. */
function helpOf(command: CommandUnknownOpts, columns: number): string {
  const written: unknown[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(text) > 0);
  const before = process.stdout.columns;
  try {
    process.stdout.columns = columns;
    command.outputHelp();
  } finally {
    process.stdout.columns = before;
    vi.restoreAllMocks();
  }
  return written.join('');
}

describe('the help of each command', () => {
  it.each([60, 200])('fits into a terminal of %i columns', (columns) => {
    const lines = all(program).flatMap((command) => helpOf(command, columns).split('\n'));
    expect(lines.filter((line) => line.length > columns)).toEqual([]);
  });

  it('goes on below a description, in a paragraph, and in a command that can be pasted', () => {
    const [api, listen, root] = ['api', 'listen', ''].map((name) =>
      helpOf(all(program).find((command) => command.name() === name) ?? program, 60),
    );
    expect(root).toContain(
      '  LOCAL_DIR                the directory of the local run\n                           (.local), whose',
    );
    expect(listen).toContain(
      '  conversations listen --type conversation.created \\\n    --status 500,500,200\n',
    );
    expect(listen).toContain('\nWith a key of a sandbox it registers an endpoint there,\nwhose simulated');
    expect(api).toContain(
      `  conversations api POST /api/v1/conversations \\\n    '{"channelId":"web","externalUserId":"ada"}' \\\n    --field data.id\n`,
    );
  });
});

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
