import { harmless, indent } from 'terminal/format.ts';
import { line } from 'terminal/line.ts';
import type { Paint } from 'terminal/paint.ts';
import type { DataOf, ItemOf } from '../../../sdk/src/index.ts';

type Conversation = DataOf<'readConversation'>;
type Message = ItemOf<'listMessages'>;

const COLOURS = { open: 'green', handed_off: 'yellow', resolved: 'dim' } as const;

/** One line: time, status, identifiers. */
export function renderConversationLine(conversation: Conversation, paint: Paint): string {
  const { id, status, channelId, externalUserId, createdAt } = conversation;
  const about = `channelId=${channelId} externalUserId=${externalUserId}`;
  return line(paint, ['dim', createdAt], [COLOURS[status] ?? 'bold', status], id, ['dim', about]);
}

/** A conversation, and its messages with their authors. */
export function renderConversation(
  conversation: Conversation,
  messages: readonly Message[],
  paint: Paint,
): string {
  return [
    renderConversationLine(conversation, paint),
    ...messages.map(
      ({ id, role, content, createdAt }) =>
        `\n  ${line(paint, ['dim', createdAt], ['bold', role], ['dim', id])}\n${indent(harmless(content), 4)}`,
    ),
    ...(messages.length === 0 ? ['  No messages.'] : []),
  ].join('\n');
}
