import { startPathServer } from './path-server.ts';

/*
 * The path server in a process of its own, for the hostile organization's URLs. It gets its certificate once,
 * and then whether it has recovered.
 */

process.once('message', async (tls: { cert: string; key: string }) => {
  const server = await startPathServer(tls);
  process.on('message', (hasRecovered: boolean) => server.setRecovered(hasRecovered));
  process.send?.(server.port);
});
process.once('disconnect', () => process.exit(0));
