import { startPathServer } from './path-server.ts';

/*
 * The path server in a process of its own, for what the hostile organization owns. It is told once what it
 * identifies itself with, and then whether it has recovered.
 */

process.once('message', async (tls: { cert: string; key: string }) => {
  const server = await startPathServer(tls);
  process.on('message', (hasRecovered: boolean) => server.setRecovered(hasRecovered));
  process.send?.(server.port);
});
process.once('disconnect', () => process.exit(0));
