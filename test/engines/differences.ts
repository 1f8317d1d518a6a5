import { ENGINES, type EngineName, isEngine } from './names.ts';

/** A check of an engine. */
export interface Check {
  /** `store/usage.test.ts › usage (dynamodb) › …`, or `requests › …`. */
  name: string;
  passed: boolean;
  /** For a failed check. */
  reason?: string;
}

/** A line of the table in docs/reference/engines.md: a check that is expected to fail on an engine. */
export interface Difference {
  engine: EngineName;
  /** Its name, or a common prefix of several names, and `*`. */
  check: string;
  reason: string;
}

const HEADING = '## Known differences';

/**
 * Reads the table of `docs/reference/engines.md`: engine, check in backticks, reason.
 * @throws Error naming the line that is not one of the table
 */
export function readDifferences(document: string): Difference[] {
  const [, section] = document.split(`${HEADING}\n`);
  if (section === undefined) throw new Error(`docs/reference/engines.md has no heading "${HEADING}"`);
  const lines =
    section
      .match(/^\|.*\n(?:\|.*(?:\n|$))*/m)?.[0]
      .trimEnd()
      .split('\n') ?? [];
  if (lines.length < 2) throw new Error(`docs/reference/engines.md has no table under "${HEADING}"`);
  return lines.slice(2).map((line) => {
    const [, engine = '', check, reason] =
      /^\| (?<engine>[\w-]+) \| `(?<check>[^`]+)` \| (?<reason>.*\S) \|$/.exec(line) ?? [];
    if (!isEngine(engine) || check === undefined || reason === undefined)
      throw new Error(
        `docs/reference/engines.md: not "| engine | \`check\` | reason |" with an engine of ${ENGINES.join(', ')}: ${line}`,
      );
    return { engine, check: check.replaceAll('\\|', '|'), reason };
  });
}

/** The line of the table for a check that fails. */
export const lineOf = (engine: EngineName, check: string, reason: string): string =>
  `| ${engine} | \`${check.replaceAll('|', '\\|')}\` | ${reason} |`;

export interface Comparison {
  passed: number;
  /** Failed checks in the table. */
  expected: Check[];
  /** Failed checks that are not in the table. */
  unexpected: Check[];
  /** Lines of the table whose check did not fail: it passed, or does not exist. */
  obsolete: Difference[];
}

/** Compares the checks of an engine with the table. */
export function compare(
  engine: EngineName,
  checks: readonly Check[],
  differences: readonly Difference[],
): Comparison {
  const listed = differences.filter((difference) => difference.engine === engine);
  const failed = checks.filter(({ passed }) => !passed);
  const isListed = ({ name }: Check) => listed.some((difference) => names(difference, name));
  return {
    passed: checks.length - failed.length,
    expected: failed.filter(isListed),
    unexpected: failed.filter((check) => !isListed(check)),
    obsolete: listed.filter((difference) => !failed.some(({ name }) => names(difference, name))),
  };
}

const names = ({ check }: Difference, name: string): boolean =>
  check.endsWith('*') ? name.startsWith(check.slice(0, -1)) : name === check;
