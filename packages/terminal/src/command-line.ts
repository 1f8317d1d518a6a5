import { styleText } from 'node:util';
import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { wrapHelp } from './wrap-help.ts';

const USAGE_ERROR = 2;
const HELP_WIDTH = 110;
const outWidth = (): number => process.stdout.columns ?? HELP_WIDTH;

/**
 * A command line without options. `--help` prints to stdout and exits with 0; wrong arguments exit with 2
 * after a line on the mistake and one on `--help`.
 * @param script program name: `npm run cost --`
 */
export function commandLine(script: string, description: string): Command {
  const style = (name: 'bold' | 'cyan') => (text: string) => styleText(name, text, { validateStream: false });
  return new Command(script)
    .description(description)
    .helpOption('-h, --help', 'show this')
    .helpCommand(false)
    .showHelpAfterError(`For the options: ${script} --help`)
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : USAGE_ERROR))
    .configureHelp({
      showGlobalOptions: true,
      // Columns of a narrow terminal that descriptions are wrapped in.
      minWidthToWrap: 16,
      styleTitle: style('bold'),
      styleOptionTerm: style('cyan'),
      styleSubcommandTerm: style('cyan'),
    })
    .configureOutput({
      getOutHelpWidth: outWidth,
      writeOut: (text) => process.stdout.write(wrapHelp(text, outWidth())),
      getErrHelpWidth: () => process.stderr.columns ?? HELP_WIDTH,
      // commander prints "Did you mean …?" on a separate line.
      outputError: (text, write) => write(text.replace('\n(', ' (')),
    });
}

/**
 * Rejects an option's value; commander adds the option and the value.
 * @param takes valid values
 */
export function refuse(takes: string): never {
  throw new InvalidArgumentError(`It takes ${takes}.`);
}

export const matching =
  (pattern: RegExp, takes: string) =>
  (text: string): string =>
    pattern.test(text) ? text : refuse(takes);

/** Not empty and not an option: commander accepts `--yes` as the file of `--save --yes`. */
export const text = matching(/^(?!--)./s, 'a text that does not begin with --');

const numberLike =
  (pattern: RegExp, kind: string) =>
  (least: number, most: number) =>
  (given: string): number =>
    pattern.test(given) && Number(given) >= least && Number(given) <= most
      ? Number(given)
      : refuse(`${kind} from ${least} to ${most}`);

export const wholeNumber = numberLike(/^\d+$/, 'a whole number');
export const decimal = numberLike(/^\d*\.?\d+$/, 'a number');

export const among =
  <T extends string>(names: readonly T[]) =>
  (given: string): T =>
    names.find((name) => name === given) ?? refuse(names.join(', '));

export const url =
  (...protocols: ('http' | 'https')[]) =>
  (given: string): URL => {
    const parsed = URL.parse(given);
    return parsed !== null && protocols.some((protocol) => parsed.protocol === `${protocol}:`)
      ? parsed
      : refuse(`an ${protocols.join(' or ')} URL`);
  };

/** Comma-separated values. */
export const listOf =
  <T>(parse: (given: string) => T) =>
  (given: string): T[] =>
    given.split(',').map((part) => parse(part.trim()));

/** Distinct values of a repeatable option. */
export const repeatable =
  <T>(parse: (given: string) => T | T[]) =>
  (given: string, before: readonly T[] = []): T[] => [
    ...new Set([...before, ...([parse(given)].flat() as T[])]),
  ];
