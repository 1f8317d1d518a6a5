import { connect } from '../connection/connect.ts';
import type { Context } from '../context.ts';
import { apiCommand, eventId, receiverId } from '../flags.ts';
import { receiverClient } from '../receiver-client.ts';
import { runCommand } from '../run.ts';
import { type EventDetails, type Explanation, explainEvent, renderExplanation } from './explain.ts';

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
    const { client } = await connect(flags, context);
    const event = await client.events.get(id, context);
    const all = explainEvent(event);
    const explained = all.filter(({ receiverId }) => endpoint === undefined || receiverId === endpoint);
    if (endpoint !== undefined && explained.length === 0) {
      // Refused with a 404 that says so for an endpoint that does not exist.
      const { url } = await receiverClient(client, endpoint).get(endpoint, context);
      explained.push({ receiverId: endpoint, url, ...explainUnlisted(event) });
    }
    if (explained.length === 0) printer.note('There are no endpoints.');
    for (const explanation of explained)
      printer.result({ eventId: id, ...explanation }, () => renderExplanation(explanation, printer.paint));
  });

/** Of an existing endpoint that the event does not name: it has no delivery, and no reason. */
function explainUnlisted({ type }: EventDetails): Omit<Explanation, 'receiverId' | 'url'> {
  const outcome = 'not_received';
  if (type === 'webhook.test')
    return { outcome, reason: 'test_of_another', explanation: 'the event is a test of another endpoint' };
  if (type === 'channel.message' || type === 'channel.test')
    return { outcome, reason: 'for_a_channel', explanation: 'the event is for a channel' };
  return {
    outcome: 'waiting',
    reason: 'pending',
    explanation: 'its delivery is being created, ask again in a minute',
  };
}
