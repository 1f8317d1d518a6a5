import { matching, url } from 'terminal/command-line.ts';
import { harmless } from 'terminal/format.ts';
import { readVariable } from 'terminal/local-run/directory.ts';
import type { Paint } from 'terminal/paint.ts';
import { authoritiesFor } from '../connection/authorities.ts';
import { readSources } from '../connection/connect.ts';
import type { Context } from '../context.ts';
import { CommandError } from '../errors.ts';
import { subcommand } from '../flags.ts';
import { runCommand } from '../run.ts';
import { examine, isAsExpected, type Trial } from './examination.ts';
import { RULES, type RuleName } from './rules.ts';

const SECRET = /^whsec_[A-Za-z0-9+/]+=*$/;

export const certifyCommand = () =>
  subcommand('certify', 'Examines a receiver: sends it signed examples, and requests that it must refuse.', [
    'certify --to http://localhost:4000/webhooks',
  ])
    .requiredOption('--to <url>', 'URL of the receiver, http or https', url('http', 'https'))
    .option(
      '--secret <whsec_…>',
      'signing secret of the receiver (WEBHOOK_SECRET)',
      matching(SECRET, 'whsec_ and base64, as the registration answered it'),
    )
    .option('--json', 'print JSON, one object per rule; errors too')
    .addHelpText(
      'after',
      `
Exit codes: 0 all rules are met, 1 some are not, 2 it could not run.

Environment:
  WEBHOOK_SECRET   the signing secret; of several, separated by spaces, the first`,
    );

type Flags = ReturnType<ReturnType<typeof certifyCommand>['opts']>;

/** How a receiver met a rule. */
export interface Finding {
  rule: RuleName;
  passed: boolean;
  trials: Trial[];
  /** What to change, of a rule that is not met. */
  remedy?: string;
}

export const runCertify = (flags: Flags, context: Context): Promise<number> =>
  runCommand(flags, context, async (printer) => {
    const secret = flags.secret ?? readVariable(context.variables, 'WEBHOOK_SECRET')?.split(' ')[0];
    if (secret === undefined || !SECRET.test(secret))
      throw new CommandError('USAGE', 'Give the signing secret of the receiver: --secret or WEBHOOK_SECRET.');
    const findings: Finding[] = [];
    const ca = await authoritiesFor(flags.to, (await readSources(context)).local);
    for await (const finding of certify(flags.to, secret, { signal: context.signal, ca })) {
      printer.result(finding, () => renderFinding(finding, printer.paint));
      findings.push(finding);
    }
    const twice = findings.find(({ rule }) => rule === 'duplicate')?.trials[0];
    if (twice !== undefined)
      printer.note(`\nNot visible from outside: that ${twice.eventId}, sent twice, was processed once.`);
    const failed = findings.filter(({ passed }) => !passed).map(({ rule }) => rule);
    const rest = Object.keys(RULES).length - findings.length;
    if (failed.length === 0) return;
    throw new CommandError(
      'FAILED',
      `Not met: ${failed.join(', ')}.${rest === 0 ? '' : ` The other ${rest} rules were not examined.`}`,
    );
  });

/**
 * Examines a receiver, rule by rule. Ends after the first if the receiver does not accept a signed event.
 * @throws CommandError when the first request gets no answer
 */
export async function* certify(
  to: URL,
  secret: string,
  { signal, ca }: { signal: AbortSignal; ca?: string[] | undefined },
): AsyncGenerator<Finding, void, undefined> {
  const examination = examine(to, secret, { signal, ...(ca && { ca }) });
  for (const [rule, { examine, remedy }] of Object.entries(RULES) as [RuleName, (typeof RULES)[RuleName]][]) {
    const trials = await examine(examination);
    signal.throwIfAborted();
    const passed = trials.every(isAsExpected);
    const [first] = trials;
    if (rule === 'valid' && first?.error !== undefined)
      throw new CommandError('NOT_RUN', `No answer from ${to.host}: ${first.error}`);
    yield { rule, passed, trials, ...(!passed && { remedy }) };
    if (rule === 'valid' && !passed) return;
  }
}

/** One line, and another for a rule that is not met. */
export function renderFinding({ rule, passed, trials, remedy }: Finding, paint: Paint): string {
  const longest = Math.max(...trials.map(({ durationMs }) => durationMs));
  const answers = [...Map.groupBy(trials, describeTrial)].map(
    ([text, of]) => `${of.length === 1 ? '' : `${of.length} × `}${text}`,
  );
  const line = `${rule.padEnd(16)}  ${answers.join(', ')}${paint('dim', `  ${longest} ms`)}`;
  if (passed) return `  ${paint('green', '✓')} ${line}`;
  return `  ${paint('red', '✗')} ${line}\n      ${remedy}`;
}

const describeTrial = (trial: Trial): string => {
  const answer = trial.status === null ? harmless(trial.error ?? '') : String(trial.status);
  return isAsExpected(trial) ? answer : `${answer} instead of ${trial.expected}`;
};
