import { among, listOf, text, wholeNumber } from 'terminal/command-line.ts';
import { connect } from '../connection/connect.ts';
import type { Context } from '../context.ts';
import { EVENT_TYPES } from '../event-types.ts';
import { apiCommand, eventId, subcommand } from '../flags.ts';
import { renderError } from '../report.ts';
import { type Printer, runCommand } from '../run.ts';
import { parseSince, toDate } from '../since.ts';
import { tail } from './tail.ts';
import { renderEvent, renderEventLine } from './view.ts';

const types = listOf(among(EVENT_TYPES));

const tailCommand = () =>
  apiCommand(
    'events tail',
    'Shows events as they happen, about 15 seconds later, in their order and without gaps.',
    ['events tail', 'events tail --type message.received --since 1h --json'],
  )
    .option('--type <list>', 'only events of these types, separated by commas (all)', types)
    .option('--since <time>', 'begin with the last 30s, 10m, 2h or 3d, or all (from now on)', parseSince)
    .option('--cursor <cursor>', 'continue after the batch with this cursor, which Ctrl-C prints', text);

const listCommand = () =>
  apiCommand('events list', 'Lists the newest events.', [
    'events list --limit 5',
    'events list --type ticket.created',
  ])
    .option('--type <list>', 'only events of these types, separated by commas (all)', types)
    .option('--limit <n>', 'events at most (20)', wholeNumber(1, 10_000));

const showCommand = () =>
  apiCommand('events show', 'Shows an event with its payload, its deliveries and their attempts.', [
    'events show evt_0192…',
  ]).argument('<event>', 'id of the event', eventId);

type TailFlags = ReturnType<ReturnType<typeof tailCommand>['opts']>;
type ListFlags = ReturnType<ReturnType<typeof listCommand>['opts']>;
type ShowFlags = ReturnType<ReturnType<typeof showCommand>['opts']>;

/** `events` with its commands. @param end receives the exit code */
export const eventsCommand = (context: Context, end: (code: Promise<number>) => Promise<void>) =>
  subcommand('events', 'Reads the events of the last 30 days.')
    .addCommand(tailCommand().action((flags) => end(tailEvents(flags, context))))
    .addCommand(listCommand().action((flags) => end(listEvents(flags, context))))
    .addCommand(showCommand().action((id, flags) => end(showEvent(id, flags, context))));

const tailEvents = (flags: TailFlags, context: Context): Promise<number> =>
  runCommand({ json: flags.json, isStream: true }, context, async (printer) => {
    const { client, baseUrl, environment } = await connect(flags, context);
    const { signal } = context;
    printer.note(`\n  ${printer.paint('green', 'Following')} the events at ${baseUrl} (${environment}).`);
    printer.note(`  ${printer.paint('dim', 'Ctrl-C stops.')}\n`);
    let last: string | undefined;
    try {
      for await (const { events, cursor } of tail(client, {
        types: flags.type,
        from: flags.since && toDate(flags.since),
        cursor: flags.cursor,
        signal,
        ...reporting(printer),
      })) {
        for (const event of events) printer.result(event, () => renderEventLine(event, printer.paint));
        last = cursor;
      }
    } finally {
      if (last !== undefined) printer.warn(`To continue there: conversations events tail --cursor ${last}`);
    }
  });

const reporting = ({ warn, paint }: Printer) => ({
  onTrouble: (error: unknown) => warn(`${renderError(error, paint)} Trying again …`),
  onRecovery: () => warn('The API answers again.'),
});

const listEvents = (flags: ListFlags, context: Context): Promise<number> =>
  runCommand(flags, context, async (printer) => {
    const { client } = await connect(flags, context);
    const { limit = 20, type } = flags;
    const filter = { ...(type && { type }), limit: Math.min(limit, 100) };
    const events = await client.events.list(filter, context).take(limit);
    if (events.length === 0) printer.note('No events.');
    for (const event of events) printer.result(event, () => renderEventLine(event, printer.paint));
  });

const showEvent = (id: string, flags: ShowFlags, context: Context): Promise<number> =>
  runCommand(flags, context, async (printer) => {
    const { client, baseUrl } = await connect(flags, context);
    const event = await client.events.get(id, {}, context);
    printer.result(event, () => renderEvent(event, baseUrl, printer.paint));
  });
