import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { releaseCheckCommand } from '../../lib/release-check/command.ts';

/** Runs `npm run release-check`. */
export async function checkRelease(...args: string[]) {
  const [output, errors] = [new PassThrough(), new PassThrough()];
  const code = await releaseCheckCommand(args, { output, errors, signal: new AbortController().signal });
  output.end();
  errors.end();
  return { code, printed: await text(output), errors: await text(errors) };
}
