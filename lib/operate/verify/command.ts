import { join } from 'node:path';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { readEnvironmentFile } from 'terminal/local-run/environment-file.ts';
import { paintFor } from 'terminal/paint.ts';
import { describe, type Output } from '../command.ts';
import { OperateError } from '../errors.ts';
import { type Place, placeOf, type Variables } from '../place.ts';
import { apiAt } from './api.ts';
import { readVerifyArguments, type VerifyArguments } from './arguments.ts';
import type { Check, CheckResult } from './check.ts';
import { alarmChecks } from './checks/alarm.ts';
import { deliveryChecks } from './checks/deliveries.ts';
import { eventSourceChecks } from './checks/event-sources.ts';
import { organizationChecks } from './checks/organization.ts';
import { queueChecks } from './checks/queues.ts';
import { requestChecks } from './checks/requests.ts';
import { type VerifyClients, verifyClientsOf } from './clients.ts';
import type { VerifyContext } from './context.ts';
import { createRemovals } from './removals.ts';
import { runChecks } from './run-checks.ts';
import { renderResult, renderSummary } from './view.ts';

/** IAM actions, in addition to finding the stacks and using their encryption keys. */
export const VERIFY_ACTIONS = [
  'lambda:InvokeFunction',
  'lambda:ListEventSourceMappings',
  'dynamodb:Query',
  'dynamodb:PutItem',
  'dynamodb:UpdateItem',
  'dynamodb:DeleteItem',
  'sqs:GetQueueAttributes',
  'sns:ListSubscriptionsByTopic',
  'cloudwatch:DescribeAlarms',
  'cloudwatch:SetAlarmState',
  'cloudwatch:DescribeAlarmHistory',
];

export interface VerifyEnvironment {
  variables: Variables;
  output: Output;
  errors: Output;
  /** Aborts when the operator stops the run. */
  signal: AbortSignal;
  now: () => Date;
  /** Monotonic milliseconds. */
  clock(): number;
}

const ERASE_LINE = '\r\u001b[2K';
const INTERRUPTED = 130;

/**
 * Runs `npm run verify`. Exits the process for `--help` and for wrong arguments.
 * @returns the exit code: 0; 1 when a check failed; 130 when it was interrupted
 */
export async function verifyCommand(
  args: readonly string[],
  environment: VerifyEnvironment,
): Promise<number> {
  const read = readVerifyArguments(args);
  const { variables, errors } = environment;
  try {
    const place = await placeOf(read, variables);
    using clients = verifyClientsOf(place);
    return await verify(read, place, clients, environment);
  } catch (error) {
    errors.write(
      `${paintFor(errors)('red', '✗')} ${describe(error, { name: 'verify', actions: VERIFY_ACTIONS })}\n`,
    );
    return 1;
  }
}

async function verify(
  flags: VerifyArguments,
  place: Place,
  clients: VerifyClients,
  { variables, output, errors, signal, now, clock }: VerifyEnvironment,
): Promise<number> {
  const { ApiUrl } = place.outputs;
  if (ApiUrl === undefined) throw new OperateError(`The outputs of ${place.name} have no ApiUrl.`);
  const paint = paintFor(output);
  const startedAt = clock();
  const context: VerifyContext = {
    place,
    clients,
    api: apiAt(ApiUrl),
    token: flags.token ?? variables.VERIFY_TOKEN ?? (await localToken(flags, variables)),
    receiver: flags.receiver,
    waitMs: flags.waitMs,
    removals: createRemovals(),
    made: {},
    now,
    clock,
    sleep: (milliseconds) => sleepFor(milliseconds, undefined, { signal }),
  };
  const clear = () => errors.isTTY && errors.write(ERASE_LINE);
  const progress = {
    now: clock,
    onStart: (name: string) => void (errors.isTTY && errors.write(`${ERASE_LINE}  … ${name}`)),
    onResult(result: CheckResult) {
      clear();
      if (!flags.json) output.write(`${renderResult(result, paint)}\n`);
    },
  };
  if (!flags.json) output.write(`\n  ${paint('bold', 'Verify')} ${place.name}\n\n`);
  const results = await runChecks(createChecks(context), { ...progress, signal });
  // Also after a failure, and without the signal: an interrupted run removes its resources as well.
  results.push(
    ...(await runChecks([removal(context)], { ...progress, signal: new AbortController().signal })),
  );
  const milliseconds = Math.round(clock() - startedAt);
  const failed = results.some(({ status }) => status === 'failed');
  if (flags.json)
    output.write(
      `${JSON.stringify({ place: place.name, passed: !failed && !signal.aborted, interrupted: signal.aborted, milliseconds, checks: results }, null, 2)}\n`,
    );
  else output.write(`\n${renderSummary(results, milliseconds, paint)}\n\n`);
  if (signal.aborted) return INTERRUPTED;
  return failed ? 1 : 0;
}

const createChecks = (context: VerifyContext): Check[] => [
  ...organizationChecks(context),
  ...requestChecks(context),
  ...deliveryChecks(context),
  ...alarmChecks(context),
  ...eventSourceChecks(context),
  ...queueChecks(context),
];

const removal = ({ removals }: VerifyContext): Check => ({
  name: 'Remove what was made',
  run: async () => (await removals.removeAll()).join(', ') || 'nothing was made',
});

/** The local organization's admin is already signed in. */
async function localToken({ local }: VerifyArguments, { LOCAL_DIR = '.local' }: Variables) {
  if (!local) return undefined;
  return (await readEnvironmentFile(join(LOCAL_DIR, 'env')))?.ADMIN_TOKEN;
}
