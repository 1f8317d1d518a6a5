import { UserError } from 'terminal/errors.ts';
import { formatDuration, harmlessOutput } from 'terminal/format.ts';
import { type Paint, paintFor } from 'terminal/paint.ts';
import { listStages } from '../infra/context.ts';
import { ACCEPTED } from './accepted.ts';
import { type ReleaseCheckArguments, readReleaseCheckArguments } from './arguments.ts';
import { type Release, readRelease } from './assembly.ts';
import type { Direction, Finding, Level } from './finding.ts';
import { checkUpdate } from './rules.ts';
import { checkOut, findLastRelease, hasStage, synthesize, WORKING_TREE } from './synthesis.ts';

interface Output extends NodeJS.WritableStream {
  isTTY?: boolean;
}

export interface ReleaseCheckEnvironment {
  output: Output;
  errors: Output;
  /** Aborts when the user stops the run. */
  signal: AbortSignal;
}

/** A finding of the stages named, of none if the releases are directories. */
type StageFinding = Finding & { stages: string[] };
type Progress = (text: string, isKept?: 'kept') => void;

const INTERRUPTED = 130;

/**
 * Runs `npm run release-check`. Exits the process for `--help` and for wrong arguments.
 * @returns the exit code: 0; 1 for errors; 130 when it was interrupted
 */
export async function releaseCheckCommand(
  args: readonly string[],
  { output, errors, signal }: ReleaseCheckEnvironment,
): Promise<number> {
  const flags = readReleaseCheckArguments(args);
  const from = flags.from ?? flags.commit ?? (await findLastRelease());
  if (from === undefined) {
    output.write(
      'No release is tagged here to compare with. Name a commit: npm run release-check -- <commit>\n',
    );
    return 0;
  }
  const eraseLine = errors.isTTY ? '\r\u001b[2K' : '';
  const progress: Progress = (text, isKept) => {
    if (isKept) errors.write(`${eraseLine}${text}\n`);
    else if (errors.isTTY) errors.write(`${eraseLine}  … ${text}`);
  };
  const startedAt = performance.now();
  try {
    const findings: StageFinding[] = [];
    for await (const [earlier, later, stage] of readReleases(from, flags, progress, signal)) {
      addFindings(findings, checkUpdate(earlier, later, 'deploy', ACCEPTED), stage);
      addFindings(findings, checkUpdate(later, earlier, 'roll back', ACCEPTED), stage);
    }
    errors.write(eraseLine);
    const names = { from, to: flags.to ?? WORKING_TREE.name };
    const passed = findings.every(({ level }) => level !== 'error');
    const text = flags.json
      ? `${JSON.stringify({ ...names, passed, findings }, null, 2)}\n`
      : render(names, findings, performance.now() - startedAt, paintFor(output));
    output.write(harmlessOutput(text));
    return passed ? 0 : 1;
  } catch (error) {
    errors.write(eraseLine);
    if (signal.aborted) return INTERRUPTED;
    if (!(error instanceof UserError)) throw error;
    errors.write(`${paintFor(errors)('red', '✗')} ${error.message}\n`);
    return 1;
  }
}

/** The earlier and the later release of each stage. */
async function* readReleases(
  from: string,
  { to, stages: given }: ReleaseCheckArguments,
  progress: Progress,
  signal: AbortSignal,
): AsyncGenerator<[Release, Release, stage?: string]> {
  if (to !== undefined) return yield [readRelease(from), readRelease(to)];
  progress(`checks out ${from}`);
  await using tree = await checkOut(from, (text) => progress(text, 'kept'), signal);
  const stages = given ?? listStages().filter((stage) => hasStage(tree, stage));
  for (const [index, stage] of stages.entries()) {
    progress(`synthesizes ${stage}, ${index + 1} of ${stages.length} stages`);
    const [earlier, later] = await Promise.all([
      synthesize(tree, stage, signal),
      synthesize(WORKING_TREE, stage, signal),
    ]);
    yield [earlier, later, stage];
  }
}

/** Findings that differ in the stage alone become one. */
function addFindings(findings: StageFinding[], found: readonly Finding[], stage?: string): void {
  for (const finding of found) {
    const message = finding.message.replaceAll(RegExp(`-${stage}\\b`, 'g'), '-<stage>');
    const keyOf = ({ direction, level }: Finding, text: string) => `${direction} ${level} ${text}`;
    const same = findings.find((other) => keyOf(other, other.message) === keyOf(finding, message));
    if (stage !== undefined && same !== undefined) same.stages.push(stage);
    else findings.push({ ...finding, message, stages: stage === undefined ? [] : [stage] });
  }
}

const LEVELS: [Level, style: 'red' | 'yellow' | 'dim', sign: string][] = [
  ['error', 'red', '✗'],
  ['warning', 'yellow', '!'],
  ['accepted', 'dim', '–'],
];

function render(
  { from, to }: { from: string; to: string },
  findings: readonly StageFinding[],
  milliseconds: number,
  paint: Paint,
): string {
  const section = (title: string, direction: Direction) => {
    const lines = LEVELS.flatMap(([level, style, sign]) =>
      findings
        .filter((finding) => finding.direction === direction && finding.level === level)
        .map(({ message, rule, stages }) => {
          const note = [rule, ...stages].join(' ');
          return `  ${paint(style, sign)} ${message} ${paint('dim', `[${note}]`)}`;
        }),
    );
    if (lines.length === 0) lines.push(`  ${paint('green', '✓')} Nothing is refused or lost.`);
    return `\n  ${paint('bold', title)}\n\n${lines.join('\n')}\n`;
  };
  const counts = LEVELS.map(([name]) => `${name}: ${findings.filter(({ level }) => level === name).length}`);
  const deploy = section(`Deploy ${to} after ${from}`, 'deploy');
  const rollBack = section(`Roll back to ${from}`, 'roll back');
  return `${deploy}${rollBack}\n  ${counts.join(', ')} · ${formatDuration(milliseconds)}\n\n`;
}
