import { findConnectionFailure } from 'terminal/connection-failure.ts';
import { harmlessOutput } from 'terminal/format.ts';
import { paintFor } from 'terminal/paint.ts';
import { readOperateArguments } from './arguments.ts';
import { clientsOf } from './clients.ts';
import type { Command } from './commands.ts';
import { NotConfirmed, OperateError, UsageError } from './errors.ts';
import { type Place, placeOf, type Variables } from './place.ts';

export interface Output extends NodeJS.WritableStream {
  isTTY?: boolean;
}

export interface CommandContext {
  variables: Variables;
  output: Output;
  errors: Output;
  now: () => Date;
}

const ERASE_LINE = '\r\u001b[2K';

/**
 * Runs `npm run operate`. Exits the process for `--help` and for wrong arguments.
 * @returns the exit code: 0, 1 for a failure, 2 for an unknown parameter value
 */
export async function operateCommand(
  args: readonly string[],
  { variables, output, errors, now }: CommandContext,
): Promise<number> {
  const { command, values, flags } = readOperateArguments(args);
  const paint = paintFor(output);
  const clear = () => errors.isTTY && errors.write(ERASE_LINE);
  let place: Place | undefined;
  try {
    place = await placeOf(flags, variables);
    using clients = clientsOf(place);
    const progress = (text: string) => errors.isTTY && errors.write(`${ERASE_LINE}  ${text}`);
    const report = await command.run({ place, clients, flags, paint, progress, now }, values);
    clear();
    const text = flags.json ? `${JSON.stringify(report.data, null, 2)}\n` : `\n${report.text}\n\n`;
    output.write(harmlessOutput(text));
    return flags.check && report.attention ? 1 : 0;
  } catch (error) {
    clear();
    const sign =
      error instanceof NotConfirmed ? paintFor(errors)('yellow', '–') : paintFor(errors)('red', '✗');
    errors.write(`${sign} ${describe(error, command, place)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** The SDK's names of a denied request, by protocol. */
const DENIED = new Set(['AccessDeniedException', 'AccessDenied', 'NotAuthorized', 'UnauthorizedOperation']);
const UNAUTHENTICATED = new Set(['CredentialsProviderError', 'ExpiredTokenException', 'ExpiredToken']);

/**
 * Explains an error and its fix.
 * @param running the command that failed
 * @param place undefined when it was not found
 */
export function describe(
  error: unknown,
  running: Pick<Command, 'name' | 'actions'>,
  place?: Pick<Place, 'name' | 'endpoints'>,
): string {
  if (error instanceof OperateError || error instanceof NotConfirmed) return error.message;
  if (error instanceof UsageError) return `${error.message}\nFor the options: npm run operate -- --help`;
  if (!(error instanceof Error)) return String(error);
  if (DENIED.has(error.name))
    return `${error.message}\n\n"${running.name}" needs: ${running.actions.join(', ')}`;
  if (UNAUTHENTICATED.has(error.name))
    return `${error.name}: ${error.message}\n\nSign in to AWS again, then try again.`;
  const failure = findConnectionFailure(error);
  if (failure?.code === 'ECONNREFUSED' && place?.endpoints !== undefined)
    return `The ${place.name} is not running. Start it with npm start.`;
  if (failure !== undefined)
    return `${describeTarget(error)} cannot be reached: ${failure.reason}. ${failure.advice}`;
  return error.stack ?? error.message;
}

/** Node.js includes the target in its connection errors. */
function describeTarget(error: Error): string {
  const { address, port, hostname } = error as Partial<Record<'address' | 'port' | 'hostname', unknown>>;
  if (hostname !== undefined) return `The service at ${hostname}`;
  return address === undefined ? 'The service' : `The service at ${address}:${port}`;
}
