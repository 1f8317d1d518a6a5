import { createHash } from 'node:crypto';
import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Client } from '../../../sdk/src/index.ts';
import { conversationId, page, READ_ONLY, readArguments, time } from './arguments.ts';
import { CONFIRM, CONFIRMED_BY_USER, requireConfirmation } from './confirmation.ts';
import { answer, toErrorResult, toResult } from './result.ts';
import { markText } from './untrusted.ts';

const CONVERSATION_TEXTS = ['externalUserId', 'resolvedBy', 'metadata'] as const;
const MESSAGE_TEXTS = ['content', 'metadata'] as const;

/** Tools of a key that may read conversations. */
export function registerConversationTools(server: McpServer, client: Client): void {
  server.registerTool(
    'search_conversations',
    {
      title: 'Search conversations',
      description: 'Lists conversations, newest first, by user, channel, status and time of the last change.',
      inputSchema: readArguments({
        externalUserId: z.string().optional(),
        channelId: z.string().optional(),
        status: z.enum(['open', 'handed_off', 'resolved']).optional(),
        updatedAfter: time.optional(),
        updatedBefore: time.optional(),
        ...page,
      }),
      annotations: READ_ONLY,
    },
    ({ cursor, ...filter }, { mcpReq }) =>
      answer(async () => {
        const { data, nextCursor } = await client.conversations.list(filter, mcpReq).page(cursor);
        return { conversations: data.map((each) => markText(each, CONVERSATION_TEXTS)), nextCursor };
      }),
  );
  server.registerTool(
    'read_conversation',
    {
      title: 'Read a conversation',
      description: 'Returns a conversation with its messages, the newest first.',
      inputSchema: readArguments({ conversationId, ...page }),
      annotations: READ_ONLY,
    },
    ({ conversationId: id, limit, cursor }, { mcpReq }) =>
      answer(async () => {
        const [conversation, { data, nextCursor }] = await Promise.all([
          client.conversations.get(id, mcpReq),
          client.conversations.messages.list(id, { limit }, mcpReq).page(cursor),
        ]);
        const messages = data.map((each) => markText(each, MESSAGE_TEXTS));
        return { conversation: markText(conversation, CONVERSATION_TEXTS), messages, nextCursor };
      }),
  );
}

/** Tool of a key that may write messages. */
export function registerReplyTool(server: McpServer, client: Client): void {
  server.registerTool(
    'reply',
    {
      title: 'Reply in a conversation',
      description: `Records a message that the external user receives. ${CONFIRMED_BY_USER}`,
      inputSchema: readArguments({
        conversationId,
        content: z.string().min(1),
        role: z.enum(['agent', 'assistant']).default('agent'),
        confirm: CONFIRM,
      }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    },
    async ({ conversationId: id, content, role, confirm: given }, context) => {
      try {
        const { mcpReq } = context;
        const [{ status }, [newest]] = await Promise.all([
          client.conversations.get(id, mcpReq),
          client.conversations.messages.list(id, { limit: 1 }, mcpReq).take(1),
        ]);
        // With the newest message: a reply that was recorded, or another message, asks for another yes.
        const what = { conversationId: id, status, after: newest?.id ?? null, role, content };
        const reopens = status === 'resolved' ? ', which reopens it' : '';
        const message = `Reply in ${id} (${status}) as ${role}${reopens}?\n${content}`;
        const missing = requireConfirmation(server, { what, message, given }, context);
        if (missing !== undefined) return missing;
        const options = { ...mcpReq, idempotencyKey: uuidOf(what) };
        const sent = await client.conversations.messages.create(id, { role, content }, options);
        return toResult({ done: true, message: markText(sent, MESSAGE_TEXTS) });
      } catch (error) {
        return toErrorResult(error);
      }
    },
  );
}

/** The same UUID (version 8) for the same reply, so that a repeated call records it once. */
function uuidOf(what: object): string {
  const hex = createHash('sha256').update(JSON.stringify(what)).digest('hex');
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');
}
