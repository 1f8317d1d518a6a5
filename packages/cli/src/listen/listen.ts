import { readSources } from '../connection/connect.ts';
import { chooseBaseUrl } from '../connection/connection.ts';
import { CommandError } from '../errors.ts';
import type { ListenArguments } from './arguments.ts';
import { receive } from './receive.ts';
import { listenInSandbox } from './sandbox.ts';
import type { ListenParts } from './session.ts';

/**
 * Shows and verifies deliveries until stopped: those of a sandbox, or with a receiver on this machine those
 * of the local run's live organization.
 * @throws CommandError when the API is not usable, or a flag is not for it
 */
export async function listen(args: ListenArguments, parts: ListenParts): Promise<void> {
  const sources = await readSources(parts);
  const baseUrl = chooseBaseUrl(args, sources);
  const { local } = sources;
  if (local?.BASE_URL === baseUrl && !args.sandbox && args.endpoint === undefined)
    return receive(args, local, parts);
  if (args.port !== 0 || args.secret !== undefined)
    throw new CommandError('USAGE', '--port and --secret are for the local run, without --sandbox.');
  return listenInSandbox(args, parts);
}
