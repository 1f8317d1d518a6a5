import { once } from 'node:events';
import { wholeNumber } from 'terminal/command-line.ts';
import { untilAborted } from 'terminal/stop-request.ts';
import { clientFor, connect, readSources } from '../connection/connect.ts';
import { chooseBaseUrl, environmentOf } from '../connection/connection.ts';
import type { Context } from '../context.ts';
import { apiCommand } from '../flags.ts';
import { type Printer, runCommand } from '../run.ts';

export const mcpCommand = () =>
  apiCommand(
    'mcp',
    'Serves the Model Context Protocol: tools that read and answer conversations, read events and failures, and resend.',
    ['mcp', 'mcp --base-url https://api.example.com', 'mcp --port 8765'],
  )
    .option(
      '--port <n>',
      'serve streamable HTTP on this machine, instead of stdin and stdout',
      wholeNumber(0, 65_535),
    )
    .addHelpText(
      'after',
      "\nThe key's scopes decide which tools there are. Replies and resends are confirmed by the user.\nOver HTTP each client sends its own key: Authorization: Bearer ck_….",
    );

type Flags = ReturnType<ReturnType<typeof mcpCommand>['opts']>;

export const runMcp = (flags: Flags, context: Context): Promise<number> =>
  runCommand({ json: flags.json, isStream: true }, context, (printer) =>
    flags.port === undefined
      ? serveStdio(flags, context, printer)
      : serveHttp(flags.port, flags, context, printer),
  );

async function serveStdio(flags: Flags, context: Context, printer: Printer): Promise<void> {
  const { client, baseUrl, environment } = await connect(flags, context);
  // Loaded here, because no other command needs them.
  const [{ findAccess }, { createMcpServer }, stdio] = await Promise.all([
    import('./access.ts'),
    import('./server.ts'),
    import('@modelcontextprotocol/server/stdio'),
  ]);
  const { stdin, stdout, signal } = context;
  const access = await findAccess(client, { signal });
  const ended = once(stdin, 'end', { signal });
  const served = stdio.serveStdio(() => createMcpServer({ client, baseUrl }, access), {
    transport: new stdio.StdioServerTransport(stdin, stdout),
  });
  const names = Object.entries(access).flatMap(([name, isAllowed]) => (isAllowed ? [name] : []));
  printer.warn(
    `Serving MCP for ${baseUrl} (${environment}): ${names.join(', ') || 'the key may do nothing'}.`,
  );
  try {
    await ended;
  } finally {
    await served.close();
  }
}

async function serveHttp(port: number, flags: Flags, context: Context, printer: Printer): Promise<void> {
  const baseUrl = chooseBaseUrl(flags, await readSources(context));
  const http = await import('./http.ts');
  const served = await http.serveHttp({
    port,
    apiFor: (key) => {
      const environment = environmentOf(key);
      const isAccepted = environment === 'sandbox' || (environment === 'live' && !flags.sandbox);
      return isAccepted ? { client: clientFor({ baseUrl, key }, context), baseUrl } : undefined;
    },
  });
  printer.warn(`Serving MCP for ${baseUrl} at ${served.url}. Clients send their API key. Ctrl-C stops.`);
  try {
    await untilAborted(context.signal);
  } finally {
    await served.close();
  }
}
