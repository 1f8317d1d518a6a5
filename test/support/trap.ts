import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Somebody's server that must be left alone. */
export interface Trap {
  port: number;
  /** Connections that were made to it, whatever came of them. */
  connections(): number;
  stop(): Promise<void>;
}

export async function startTrap(): Promise<Trap> {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    connections: () => connections,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}
