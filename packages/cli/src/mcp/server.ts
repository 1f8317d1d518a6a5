import { McpServer } from '@modelcontextprotocol/server';
import { VERSION } from '../../../sdk/src/index.ts';
import type { Api } from '../connection/connect.ts';
import type { Access } from './access.ts';
import { registerConversationTools, registerReplyTool } from './conversation-tools.ts';
import { registerResendTool } from './resend-tool.ts';
import { registerReadingTools } from './tools.ts';
import { UNTRUSTED_NOTICE } from './untrusted.ts';

/** An MCP server with the tools that the key may use. */
export function createMcpServer(api: Api, access: Access): McpServer {
  const { client } = api;
  const server = new McpServer(
    { name: 'conversations', title: 'Conversation Service', version: VERSION },
    {
      capabilities: { tools: {} },
      instructions:
        'Reads and answers conversations of an organization, reads its events, their deliveries to endpoints and why they fail, and resends them. ' +
        `Begin with search_conversations, failures_by_cause or list_events. ${UNTRUSTED_NOTICE}`,
    },
  );
  if (access.readsEvents) registerReadingTools(server, api);
  if (access.resends) registerResendTool(server, client);
  if (access.readsConversations) registerConversationTools(server, client);
  if (access.replies) registerReplyTool(server, client);
  return server;
}
