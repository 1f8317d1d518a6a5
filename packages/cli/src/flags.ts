import { commandLine, matching, url } from 'terminal/command-line.ts';
import { baseUrlOf } from './connection/base-url.ts';

/** Command of `conversations`, with examples below its help. @param path such as `events tail` */
export function subcommand(path: string, description: string, examples: readonly string[] = []) {
  const command = commandLine(`conversations ${path}`, description).name(path.split(' ').at(-1) ?? path);
  const lines = examples.map((example) => `  conversations ${example}`);
  return lines.length === 0 ? command : command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}

export const eventId = matching(/^evt_\w+$/, 'the id of an event: evt_…');
export const endpointId = matching(/^whk_\w+$/, 'the id of an endpoint: whk_…');
export const receiverId = matching(/^(?:whk|chn)_\w+$/, 'the id of an endpoint or a channel: whk_… or chn_…');
export const parseBaseUrlFlag = (given: string): string => baseUrlOf(url('http', 'https')(given));

/** A command that calls the API with a key. */
export const apiCommand = (path: string, description: string, examples: readonly string[] = []) =>
  subcommand(path, description, examples)
    .option(
      '--base-url <url>',
      'URL of the API (CONVERSATIONS_BASE_URL, the local run, the last login)',
      parseBaseUrlFlag,
    )
    .option('--sandbox', 'use the sandbox of the local run; elsewhere, accept only a key of a sandbox')
    .option('--json', 'print JSON, one object per line; errors too');
