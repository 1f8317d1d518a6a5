import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** A server that must not be contacted. */
export interface Trap {
  port: number;
  /** Connections that were made to it, used or not. */
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
