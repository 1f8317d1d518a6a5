import { vi } from 'vitest';

class Ended extends Error {}

/** How the process ended, and what it printed before. */
interface Ending<T = unknown> {
  /** Of `process.exit`; undefined when it was not called. */
  code?: number;
  output: string;
  errors: string;
  /** What came back when the process did not end. */
  result?: T;
}

/** Runs what reads a command line, prints, and may end the process. */
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

/** `runCommandLine` of what takes time. */
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

/** What the command line says when it is wrong: a line about the mistake, and one that names `--help`. */
export function usageError(run: () => unknown): string {
  const { code, output, errors } = runCommandLine(run);
  const [mistake = '', help = '', ...more] = errors.trimEnd().split('\n');
  if (code !== 2 || output !== '' || !help.includes('--help') || more.length > 0)
    throw new Error(`The process ended with ${code}:\n${output}${errors}`);
  return mistake;
}

/** Keeps what is printed; the end of the process throws `Ended`. @returns what ends this */
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
