import { McpServer } from '@modelcontextprotocol/server';
import { type Client, VERSION } from '../../../sdk/src/index.ts';
import type { Access } from './access.ts';
import { registerResendTool } from './resend-tool.ts';
import { registerReadingTools } from './tools.ts';
import { UNTRUSTED_NOTICE } from './untrusted.ts';

/** An MCP server with the tools that the key may use. */
export function createMcpServer(client: Client, { reads, resends }: Access): McpServer {
  const server = new McpServer(
    { name: 'conversations', title: 'Conversation Service', version: VERSION },
    {
      capabilities: { tools: {} },
      instructions:
        'Reads the events of an organization, their deliveries to endpoints and why they fail, and resends them. ' +
        `Begin with failures_by_cause or list_events. ${UNTRUSTED_NOTICE}`,
    },
  );
  if (reads) registerReadingTools(server, client);
  if (resends) registerResendTool(server, client);
  return server;
}
