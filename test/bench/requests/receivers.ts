import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

/**
 * A receiver's reactions to the attempts of one delivery, in order; the last also for all that follow. A
 * number is a status.
 */
export type Behaviour = readonly (number | 'hang')[];

/** One server for receivers of all kinds, distinguished by path. */
export interface Receivers {
  /** URL of a new receiver. */
  add(behaviour: Behaviour): string;
  /** Requests since the last call, and all bytes that were received. */
  taken(): { requests: number; wireBytes: number };
  stop(): Promise<void>;
}

/** @param tls PEM of its certificate */
export async function startReceivers(tls: { cert: string; key: string }): Promise<Receivers> {
  const behaviours = new Map<string, Behaviour>();
  const attempts = new Map<string, number>();
  const sockets = new Map<Socket, number>();
  let requests = 0;
  let wireBytes = 0;
  const server = createServer({ ...tls, keepAliveTimeout: 60_000 }, (request, response) => {
    request.on('error', () => undefined);
    request.resume().on('end', () => {
      requests += 1;
      const delivery = `${request.url} ${request.headers['webhook-delivery-id']}`;
      const attempt = attempts.get(delivery) ?? 0;
      attempts.set(delivery, attempt + 1);
      const behaviour = behaviours.get(request.url ?? '') ?? [];
      const answer = behaviour[Math.min(attempt, behaviour.length - 1)] ?? 204;
      if (answer !== 'hang') response.writeHead(answer).end();
    });
  });
  // Below TLS, because network traffic is billed.
  server.on('connection', (socket: Socket) => {
    sockets.set(socket, 0);
    socket.on('close', () => {
      wireBytes += socket.bytesRead - (sockets.get(socket) ?? 0);
      sockets.delete(socket);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    add(behaviour) {
      const path = `/${behaviours.size}`;
      behaviours.set(path, behaviour);
      return `https://localhost:${port}${path}`;
    },
    taken() {
      for (const [socket, counted] of sockets) {
        wireBytes += socket.bytesRead - counted;
        sockets.set(socket, socket.bytesRead);
      }
      const seen = { requests, wireBytes };
      [requests, wireBytes] = [0, 0];
      return seen;
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
