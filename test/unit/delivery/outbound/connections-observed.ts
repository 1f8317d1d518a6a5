import { createServer, type Server } from 'node:net';
import { onTestFinished } from 'vitest';

/** The destination that the kernel was asked to connect to. */
export interface Attempt {
  address: string;
  port: number;
}

type Connect = (this: object, request: object, address: string, port: number) => number;
type GetPeerName = (this: object, peer: object) => number;

interface TcpHandle {
  connect: Connect;
  connect6: Connect;
  getpeername: GetPeerName;
}

/**
 * Records every TCP connection that this process begins until the end of the test, in the last function
 * before the kernel.
 *
 * No packet leaves the machine: each connection is redirected to a loopback port, and reports its original
 * destination.
 */
export async function observedConnections(to: { host?: string; port: number }): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  const intended = new WeakMap<object, { address: string; port: number; family: string }>();
  const tcp = await tcpPrototype();
  const { connect, connect6, getpeername } = tcp;

  const led = (family: string): Connect =>
    function ledElsewhere(request, address, port) {
      attempts.push({ address, port });
      intended.set(this, { address, port, family });
      return connect.call(this, request, to.host ?? '127.0.0.1', to.port);
    };
  tcp.connect = led('IPv4');
  tcp.connect6 = led('IPv6');
  tcp.getpeername = function asIntended(peer) {
    const error = getpeername.call(this, peer);
    Object.assign(peer, intended.get(this));
    return error;
  };
  onTestFinished(() => {
    Object.assign(tcp, { connect, connect6, getpeername });
  });
  return attempts;
}

/** The prototype of all TCP handles of Node; a server has one before anything is patched. */
async function tcpPrototype(): Promise<TcpHandle> {
  const server: Server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const handle: unknown = Reflect.get(server, '_handle');
  await new Promise((closed) => server.close(closed));
  const prototype: unknown = typeof handle === 'object' && Object.getPrototypeOf(handle);
  if (!isTcpHandle(prototype)) throw new Error('this Node keeps the handles of its sockets elsewhere');
  return prototype;
}

function isTcpHandle(value: unknown): value is TcpHandle {
  return (
    typeof value === 'object' &&
    value !== null &&
    ['connect', 'connect6', 'getpeername'].every((name) => typeof Reflect.get(value, name) === 'function')
  );
}
