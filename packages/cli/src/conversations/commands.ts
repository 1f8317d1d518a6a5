import { among, matching, text, wholeNumber } from 'terminal/command-line.ts';
import { connect } from '../connection/connect.ts';
import type { Context } from '../context.ts';
import { apiCommand, subcommand } from '../flags.ts';
import { runCommand } from '../run.ts';
import { parseSince, toDate } from '../since.ts';
import { renderConversation, renderConversationLine } from './view.ts';

const STATUSES = ['open', 'handed_off', 'resolved'] as const;

const listCommand = () =>
  apiCommand('conversations list', 'Lists the newest conversations.', [
    'conversations list --status handed_off',
    'conversations list --user ada --since 2h',
  ])
    .option('--user <id>', 'only of this external user', text)
    .option('--channel <id>', 'only of this channel', text)
    .option('--status <status>', `only with this status: ${STATUSES.join(', ')}`, among(STATUSES))
    .option('--since <time>', 'only changed in the last 30s, 10m, 2h or 3d', parseSince)
    .option('--until <time>', 'only changed before the last 30s, 10m, 2h or 3d', parseSince)
    .option('--limit <n>', 'conversations at most (20)', wholeNumber(1, 10_000));

const showCommand = () =>
  apiCommand(
    'conversations show',
    'Shows a conversation with its newest messages, the oldest of them first.',
    ['conversations show cnv_0192…'],
  )
    .argument(
      '<conversation>',
      'id of the conversation',
      matching(/^cnv_\w+$/, 'the id of a conversation: cnv_…'),
    )
    .option('--limit <n>', 'messages at most (20)', wholeNumber(1, 10_000));

type ListFlags = ReturnType<ReturnType<typeof listCommand>['opts']>;
type ShowFlags = ReturnType<ReturnType<typeof showCommand>['opts']>;

/** `conversations` with its commands. @param end receives the exit code */
export const conversationsCommand = (context: Context, end: (code: Promise<number>) => Promise<void>) =>
  subcommand('conversations', 'Reads conversations and their messages.')
    .addCommand(listCommand().action((flags) => end(listConversations(flags, context))))
    .addCommand(showCommand().action((id, flags) => end(showConversation(id, flags, context))));

const listConversations = (flags: ListFlags, context: Context): Promise<number> =>
  runCommand(flags, context, async (printer) => {
    const { client } = await connect(flags, context);
    const { user, channel, status, since, until, limit = 20 } = flags;
    const filter = {
      ...(user && { externalUserId: user }),
      ...(channel && { channelId: channel }),
      ...(status && { status }),
      ...(since && { updatedAfter: toDate(since).toISOString() }),
      ...(until && { updatedBefore: toDate(until).toISOString() }),
      limit: Math.min(limit, 100),
    };
    const conversations = await client.conversations.list(filter, context).take(limit);
    if (conversations.length === 0) printer.note('No conversations.');
    for (const conversation of conversations)
      printer.result(conversation, () => renderConversationLine(conversation, printer.paint));
  });

const showConversation = (id: string, flags: ShowFlags, context: Context): Promise<number> =>
  runCommand(flags, context, async (printer) => {
    const { client } = await connect(flags, context);
    const { limit = 20 } = flags;
    const [conversation, newest] = await Promise.all([
      client.conversations.get(id, context),
      client.conversations.messages.list(id, { limit: Math.min(limit, 100) }, context).take(limit),
    ]);
    const messages = newest.reverse();
    printer.result({ ...conversation, messages }, () =>
      renderConversation(conversation, messages, printer.paint),
    );
  });
