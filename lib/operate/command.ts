import { paintFor } from '../local/console/paint.ts';
import { readOperateArguments, usage } from './arguments.ts';
import { clientsOf } from './clients.ts';
import type { Command } from './commands.ts';
import { OperateError, UsageError } from './errors.ts';
import { placeOf, type Variables } from './place.ts';

/** An output of a process. */
interface Output extends NodeJS.WritableStream {
  isTTY?: boolean;
}

export interface Surroundings {
  variables: Variables;
  output: Output;
  errors: Output;
  now: () => Date;
}

const ERASE_LINE = '\r\u001b[2K';

/**
 * `npm run operate`.
 * @returns the exit code: 0; 1 when it failed; 2 when it was called wrongly
 */
export async function operateCommand(
  args: readonly string[],
  { variables, output, errors, now }: Surroundings,
): Promise<number> {
  const paint = paintFor(output);
  let running: Command | undefined;
  const clear = () => errors.isTTY && errors.write(ERASE_LINE);
  try {
    const read = readOperateArguments(args);
    if (read === 'help') {
      output.write(usage());
      return 0;
    }
    const { command, values, flags } = read;
    running = command;
    const place = await placeOf(flags, variables);
    using clients = clientsOf(place);
    const progress = (text: string) => errors.isTTY && errors.write(`${ERASE_LINE}  ${text}`);
    const report = await command.run({ place, clients, flags, paint, progress, now }, values);
    clear();
    output.write(flags.json ? `${JSON.stringify(report.data, null, 2)}\n` : `\n${report.text}\n\n`);
    return flags.check && report.attention ? 1 : 0;
  } catch (error) {
    clear();
    errors.write(`${paintFor(errors)('red', '✗')} ${describe(error, running)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** What the SDK calls a refusal, over its protocols. */
const DENIED = new Set(['AccessDeniedException', 'AccessDenied', 'NotAuthorized', 'UnauthorizedOperation']);
/** No usable credentials, or no way to the service. */
const UNREACHED = new Set([
  'CredentialsProviderError',
  'ExpiredTokenException',
  'ExpiredToken',
  'ECONNREFUSED',
  'TimeoutError',
]);

function describe(error: unknown, running: Command | undefined): string {
  if (error instanceof OperateError) return error.message;
  if (error instanceof UsageError) return `${error.message}\n\nnpm run operate -- --help says what there is.`;
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : error.name;
  if (DENIED.has(error.name))
    return `${error.message}\n\n"${running?.name}" needs: ${running?.actions.join(', ')}`;
  if (UNREACHED.has(error.name) || UNREACHED.has(code))
    return `${error.name}: ${error.message}\n\nIs it running, and are there credentials for it?`;
  return error.stack ?? error.message;
}
