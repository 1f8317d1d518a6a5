import { connect } from '../connection/connect.ts';
import type { Context } from '../context.ts';
import { apiCommand, eventId, receiverId } from '../flags.ts';
import { runCommand } from '../run.ts';
import { explainFor, renderExplanation } from './explain.ts';

export const whyCommand = () =>
  apiCommand('why', 'Says for each endpoint, or for one, why it did or did not receive an event.', [
    'why evt_0192…',
    'why evt_0192… whk_0192…',
  ])
    .argument('<event>', 'id of the event', eventId)
    .argument('[endpoint]', 'id of an endpoint or a channel', receiverId);

type Flags = ReturnType<ReturnType<typeof whyCommand>['opts']>;

export const runWhy = (
  { id, endpoint }: { id: string; endpoint: string | undefined },
  flags: Flags,
  context: Context,
): Promise<number> =>
  runCommand(flags, context, async (printer) => {
    const api = await connect(flags, context);
    const explained = await explainFor(api, { id, endpoint }, context);
    if (explained.length === 0) printer.note('There are no endpoints.');
    for (const explanation of explained)
      printer.result({ eventId: id, ...explanation }, () => renderExplanation(explanation, printer.paint));
  });
