import { formatDuration, harmless } from 'terminal/format.ts';
import type { Paint } from 'terminal/paint.ts';
import type { CheckResult } from './check.ts';

const NAME_WIDTH = 36;
const TIME_WIDTH = 7;

const SIGNS = { passed: ['green', '✓'], failed: ['red', '✗'], skipped: ['yellow', '–'] } as const;

/** A check's line of the report, with its findings below. */
export function renderResult(
  { name, status, milliseconds, detail, findings }: CheckResult,
  paint: Paint,
): string {
  const [style, symbol] = SIGNS[status];
  const sign = paint(style, symbol);
  const time = status === 'skipped' ? '' : formatDuration(milliseconds);
  const note = status === 'skipped' ? `skipped: ${detail}` : detail;
  const line = `  ${sign} ${name.padEnd(NAME_WIDTH)} ${paint('dim', time.padStart(TIME_WIDTH))}   ${paint('dim', harmless(note))}`;
  return [line.trimEnd(), ...findings.map((finding) => `      ${paint('red', harmless(finding))}`)].join(
    '\n',
  );
}

/** Last line, with the names of the failed checks. */
export function renderSummary(results: readonly CheckResult[], milliseconds: number, paint: Paint): string {
  const of = (status: CheckResult['status']) => results.filter((result) => result.status === status);
  const [passed, failed, skipped] = [of('passed'), of('failed'), of('skipped')];
  const rest = skipped.length === 0 ? '' : `, ${skipped.length} skipped`;
  const time = formatDuration(milliseconds);
  if (failed.length === 0) return `  ${paint('green', '✓')} ${passed.length} passed${rest} in ${time}.`;
  const names = failed.map(({ name }) => name).join(' · ');
  return `  ${paint('red', '✗')} ${failed.length} failed, ${passed.length} passed${rest} in ${time}: ${names}`;
}
