import { vi } from 'vitest';

class Ended extends Error {}

/** How the process ended, and its output. */
interface Ending<T = unknown> {
  /** Of `process.exit`; undefined when it was not called. */
  code?: number;
  output: string;
  errors: string;
  /** The returned value when the process did not end. */
  result?: T;
}

/** Runs a command that parses arguments, prints, and may end the process. */
export function runCommandLine<T>(run: () => T): Ending<T> {
  const ending: Ending<T> = { output: '', errors: '' };
  const restore = intercept(ending);
  try {
    ending.result = run();
  } catch (error) {
    if (!(error instanceof Ended)) throw error;
  } finally {
    restore();
  }
  return ending;
}

/** `runCommandLine` for an asynchronous command. */
export async function runProgram(run: () => Promise<unknown>): Promise<Ending> {
  const ending: Ending = { output: '', errors: '' };
  const restore = intercept(ending);
  try {
    await run();
  } catch (error) {
    if (!(error instanceof Ended)) throw error;
  } finally {
    restore();
  }
  return ending;
}

/** The output for invalid arguments: a line about the mistake, and one that names `--help`. */
export function usageError(run: () => unknown): string {
  const { code, output, errors } = runCommandLine(run);
  const [mistake = '', help = '', ...more] = errors.trimEnd().split('\n');
  if (code !== 2 || output !== '' || !help.includes('--help') || more.length > 0)
    throw new Error(`The process ended with ${code}:\n${output}${errors}`);
  return mistake;
}

/**
 * Captures the output; the end of the process throws `Ended`.
 * @returns a function that restores both
 */
function intercept(ending: Ending): () => void {
  const keep = (stream: NodeJS.WriteStream, name: 'output' | 'errors') =>
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      ending[name] += text;
      return true;
    });
  const spies = [
    keep(process.stdout, 'output'),
    keep(process.stderr, 'errors'),
    vi.spyOn(process, 'exit').mockImplementation((code) => {
      ending.code = Number(code);
      throw new Ended();
    }),
  ];
  return () => {
    for (const spy of spies) spy.mockRestore();
  };
}
