import { once } from 'node:events';
import { connect } from '../connection/connect.ts';
import type { Context } from '../context.ts';
import { apiCommand } from '../flags.ts';
import { runCommand } from '../run.ts';

export const mcpCommand = () =>
  apiCommand(
    'mcp',
    'Serves the Model Context Protocol on stdin and stdout: tools that read events, deliveries and failures, and resend.',
    ['mcp', 'mcp --base-url https://api.example.com'],
  ).addHelpText(
    'after',
    "\nThe key's scopes decide which tools there are. A resend is confirmed by the user.",
  );

type Flags = ReturnType<ReturnType<typeof mcpCommand>['opts']>;

export const runMcp = (flags: Flags, context: Context): Promise<number> =>
  runCommand({ json: flags.json, isStream: true }, context, async (printer) => {
    const { client, baseUrl, environment } = await connect(flags, context);
    // Loaded here, because no other command needs them.
    const [{ findAccess }, { createMcpServer }, { serveStdio, StdioServerTransport }] = await Promise.all([
      import('./access.ts'),
      import('./server.ts'),
      import('@modelcontextprotocol/server/stdio'),
    ]);
    const { stdin, stdout, signal } = context;
    const access = await findAccess(client, { signal });
    const ended = once(stdin, 'end', { signal });
    const served = serveStdio(() => createMcpServer(client, access), {
      transport: new StdioServerTransport(stdin, stdout),
    });
    printer.warn(
      `Serving MCP for ${baseUrl} (${environment})${access.reads ? '' : '; the key may read nothing'}.`,
    );
    try {
      await ended;
    } finally {
      await served.close();
    }
  });
