import { UserError } from 'terminal/errors.ts';
import { formatDuration, harmlessOutput } from 'terminal/format.ts';
import { type Paint, paintFor } from 'terminal/paint.ts';
import { createScreen, type Screen } from 'terminal/screen.ts';
import { listStages } from '../infra/context.ts';
import { ACCEPTED } from './accepted.ts';
import { type ReleaseCheckArguments, readReleaseCheckArguments } from './arguments.ts';
import { type Release, readRelease } from './assembly.ts';
import type { Direction, Finding } from './finding.ts';
import { checkUpdate } from './rules.ts';
import { checkOut, findLastRelease, hasStage, synthesize, WORKING_TREE } from './synthesis.ts';

export interface ReleaseCheckEnvironment {
  output: NodeJS.WritableStream;
  errors: NodeJS.WritableStream;
  /** Aborts when the user stops the run. */
  signal: AbortSignal;
}

/** A finding of the stages named, of none if the releases are directories. */
type StageFinding = Finding & { stages: string[] };

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
  const startedAt = performance.now();
  try {
    const merged = new Map<string, StageFinding>();
    for await (const [earlier, later, stage] of readReleases(from, flags, createScreen(errors), signal))
      for (const finding of [
        ...checkUpdate(earlier, later, 'deploy', ACCEPTED),
        ...checkUpdate(later, earlier, 'roll back', ACCEPTED),
      ]) {
        // Findings that differ in the stage alone become one.
        const message = finding.message.replaceAll(RegExp(`-${stage}\\b`, 'g'), '-<stage>');
        const key = `${finding.direction} ${finding.level} ${message}`;
        const stages = [...(merged.get(key)?.stages ?? []), ...(stage === undefined ? [] : [stage])];
        merged.set(key, { ...finding, message, stages });
      }
    const findings = [...merged.values()];
    const names = { from, to: flags.to ?? WORKING_TREE.name };
    const passed = findings.every(({ level }) => level !== 'error');
    const text = flags.json
      ? `${JSON.stringify({ ...names, passed, findings }, null, 2)}\n`
      : render(names, findings, performance.now() - startedAt, paintFor(output));
    output.write(harmlessOutput(text));
    return passed ? 0 : 1;
  } catch (error) {
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
  screen: Screen,
  signal: AbortSignal,
): AsyncGenerator<[Release, Release, stage?: string]> {
  if (to !== undefined) return yield [readRelease(from), readRelease(to)];
  await using tree = await screen.step(`Check out ${from}`, () => checkOut(from, signal));
  for (const stage of given ?? listStages().filter((name) => hasStage(tree, name))) {
    const [earlier, later] = await screen.step(`Synthesize ${stage} twice`, () =>
      Promise.all([synthesize(tree, stage, signal), synthesize(WORKING_TREE, stage, signal)]),
    );
    yield [earlier, later, stage];
  }
}

const SIGNS = { error: ['red', '✗'], warning: ['yellow', '!'], accepted: ['dim', '–'] } as const;
const LEVELS = ['error', 'warning', 'accepted'] as const;

function render(
  { from, to }: { from: string; to: string },
  findings: readonly StageFinding[],
  milliseconds: number,
  paint: Paint,
): string {
  const at = (level: string) => findings.filter((finding) => finding.level === level);
  const section = (title: string, direction: Direction) => {
    const lines = LEVELS.flatMap(at)
      .filter((finding) => finding.direction === direction)
      .map(({ level, message, rule, stages }) => {
        const note = paint('dim', `[${[rule, ...stages].join(' ')}]`);
        return `  ${paint(SIGNS[level][0], SIGNS[level][1])} ${message} ${note}`;
      });
    if (lines.length === 0) lines.push(`  ${paint('green', '✓')} Nothing is refused or lost.`);
    return `\n  ${paint('bold', title)}\n\n${lines.join('\n')}\n`;
  };
  const deploy = section(`Deploy ${to} after ${from}`, 'deploy');
  const rollBack = section(`Roll back to ${from}`, 'roll back');
  const counts = LEVELS.map((level) => `${level}: ${at(level).length}`).join(', ');
  return `${deploy}${rollBack}\n  ${counts} · ${formatDuration(milliseconds)}\n\n`;
}
