import { connect } from '../connection/connect.ts';
import type { Context } from '../context.ts';
import { apiCommand, receiverId, subcommand } from '../flags.ts';
import { receiverClient } from '../receiver-client.ts';
import { runCommand } from '../run.ts';
import { describeUpdate, renderEndpoint, renderEndpoints } from './view.ts';

/** As many as an organization can have. */
const MOST = 100;

const listCommand = () =>
  apiCommand('endpoints list', 'Lists the endpoints and their failure state.', ['endpoints list']);

const showCommand = () =>
  apiCommand(
    'endpoints show',
    'Shows an endpoint, its failure state and its deliveries of the last 24 hours.',
    ['endpoints show whk_0192…'],
  ).argument('<endpoint>', 'id of the endpoint or channel', receiverId);

const pauseCommand = () =>
  apiCommand(
    'endpoints pause',
    'Pauses an endpoint, for example for a planned outage: its deliveries are skipped, and count as no failure.',
    ['endpoints pause whk_0192…'],
  ).argument('<endpoint>', 'id of the endpoint or channel', receiverId);

const resumeCommand = () =>
  apiCommand(
    'endpoints resume',
    'Resumes a paused endpoint, or a paused or disabled channel, and sends it what was skipped meanwhile.',
    ['endpoints resume whk_0192…'],
  ).argument('<endpoint>', 'id of the endpoint or channel', receiverId);

type Flags = ReturnType<ReturnType<typeof listCommand>['opts']>;

/** `endpoints` with its commands. @param end receives the exit code */
export const endpointsCommand = (context: Context, end: (code: Promise<number>) => Promise<void>) =>
  subcommand('endpoints', 'Shows, pauses and resumes the endpoints that receive events.')
    .addCommand(listCommand().action((flags) => end(listEndpoints(flags, context))))
    .addCommand(showCommand().action((id, flags) => end(showEndpoint(id, flags, context))))
    .addCommand(pauseCommand().action((id, flags) => end(pauseEndpoint(id, true, flags, context))))
    .addCommand(resumeCommand().action((id, flags) => end(pauseEndpoint(id, false, flags, context))));

const listEndpoints = (flags: Flags, context: Context): Promise<number> =>
  runCommand(flags, context, async (printer) => {
    const { client } = await connect(flags, context);
    const endpoints = await client.endpoints.list({ limit: MOST }, context).take(MOST);
    if (!printer.isJson) printer.note(renderEndpoints(endpoints, printer.paint));
    else for (const endpoint of endpoints) printer.result(endpoint, () => '');
  });

const showEndpoint = (id: string, flags: Flags, context: Context): Promise<number> =>
  runCommand(flags, context, async (printer) => {
    const { client } = await connect(flags, context);
    const receiver = receiverClient(client, id);
    const [endpoint, stats] = await Promise.all([
      receiver.get(id, context),
      receiver.stats(id, { hours: 24 }, context),
    ]);
    printer.result({ ...endpoint, stats }, () => renderEndpoint(endpoint, stats, printer.paint));
  });

const pauseEndpoint = (id: string, paused: boolean, flags: Flags, context: Context): Promise<number> =>
  runCommand(flags, context, async (printer) => {
    const { client } = await connect(flags, context);
    const endpoint = await receiverClient(client, id).update(id, { paused }, context);
    printer.result(endpoint, () => describeUpdate(endpoint, flags));
  });
