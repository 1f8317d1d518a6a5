/** A program that a command starts by its name. It reads its own arguments from `process.argv`. */
interface NamedProgram {
  /** One line for the help. */
  about: string;
  start(): Promise<unknown>;
}

type Programs = Readonly<Record<string, NamedProgram>>;

/** The help of a command: a line for each program. */
const renderUsage = (command: string, programs: Programs): string =>
  [
    `Usage: npm run ${command} -- NAME [options]`,
    '',
    ...Object.entries(programs).map(([name, { about }]) => `  ${name.padEnd(12)}${about}`),
    '',
  ].join('\n');

/**
 * Starts the program that the first argument names, with the arguments behind it.
 * @param command the script in package.json, for the help
 * @returns the exit code: 2, with the help, when there is no such program
 */
export async function startNamedProgram(
  command: string,
  programs: Programs,
  { argv, output, errors }: Pick<NodeJS.Process, 'argv'> & Record<'output' | 'errors', Writer> = {
    argv: process.argv,
    output: process.stdout,
    errors: process.stderr,
  },
): Promise<typeof process.exitCode> {
  const name = argv[2] ?? '';
  if (['--help', '-h'].includes(name)) {
    output.write(renderUsage(command, programs));
    return 0;
  }
  const program = Object.hasOwn(programs, name) ? programs[name] : undefined;
  if (program === undefined) {
    const problem = name === '' ? '' : `There is no "${name}".\n\n`;
    errors.write(`${problem}${renderUsage(command, programs)}`);
    return 2;
  }
  argv.splice(2, 1);
  await program.start();
  return process.exitCode;
}

interface Writer {
  write(text: string): unknown;
}
