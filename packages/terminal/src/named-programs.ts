import { commandLine } from './command-line.ts';

/** A program that a command starts by name. It parses `process.argv` itself. */
export interface NamedProgram {
  /** One line for the help. */
  about: string;
  start(): Promise<unknown>;
}

/**
 * Starts the program of the first argument with the other arguments.
 * @param script in package.json
 * @param unnamed runs without an argument; by default the help is shown then, as an error
 */
export async function startNamedProgram(
  script: string,
  description: string,
  programs: Readonly<Record<string, NamedProgram>>,
  { unnamed, argv = process.argv }: { unnamed?: () => Promise<unknown>; argv?: string[] } = {},
): Promise<void> {
  if (unnamed !== undefined && argv.length === 2) {
    await unnamed();
    return;
  }
  const all = commandLine(`npm run ${script} --`, description);
  for (const [name, { about, start }] of Object.entries(programs))
    all
      .command(name)
      .summary(about)
      // The program parses its own options, including `--help`.
      .helpOption(false)
      .allowUnknownOption()
      .allowExcessArguments()
      .action(async () => {
        argv.splice(2, 1);
        await start();
      });
  await all.parseAsync(argv);
}
