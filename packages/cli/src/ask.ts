import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Context } from './context.ts';
import { CommandError } from './errors.ts';

type Terminal = Pick<Context, 'stdin' | 'stderr' | 'signal'>;

/**
 * Asks for a yes, unless it was given on the command line.
 * @throws CommandError without a yes, and without a terminal
 */
export async function confirm(
  question: string,
  { isGiven, terminal }: { isGiven: boolean; terminal: Terminal },
): Promise<void> {
  if (isGiven) return;
  if (!terminal.stdin.isTTY) throw new CommandError('NOT_CONFIRMED', 'Not confirmed: give --yes.');
  const answer = await ask(`${question} [y/N] `, terminal.stderr, terminal);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('NOT_CONFIRMED', 'Nothing was done.');
}

/** Reads a secret from a terminal, which does not show it, or the first line of a pipe. */
export async function readSecret(question: string, terminal: Terminal): Promise<string> {
  const { stdin, stderr } = terminal;
  if (!stdin.isTTY) return (await text(stdin)).split('\n')[0]?.trim() ?? '';
  stderr.write(question);
  try {
    return (await ask('', new Writable({ write: (_chunk, _encoding, done) => done() }), terminal)).trim();
  } finally {
    stderr.write('\n');
  }
}

async function ask(question: string, output: Writable, { stdin, signal }: Terminal): Promise<string> {
  const stopped = new AbortController();
  const lines = createInterface({ input: stdin, output, terminal: true });
  // In raw mode Ctrl-C and the end of the input are no signals of the process.
  lines.on('SIGINT', () => stopped.abort());
  lines.on('close', () => stopped.abort());
  try {
    return await lines.question(question, { signal: AbortSignal.any([signal, stopped.signal]) });
  } catch (error) {
    if (!stopped.signal.aborted) throw error;
    throw new CommandError('NOT_CONFIRMED', 'Nothing was done.');
  } finally {
    lines.close();
  }
}
