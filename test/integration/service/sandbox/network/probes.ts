import { execFileSync, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import * as dns from 'node:dns';
import { Resolver as PromisedResolver, lookup as promisedLookup } from 'node:dns/promises';
import { get } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { get as getSecurely } from 'node:https';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Worker } from 'node:worker_threads';
import type { Observation } from './observer.ts';

/*
 * Reaches out in every way that Node.js has, each time to another target, and prints what an observer must
 * have recorded. No target answers: port 9 of the loopback network is closed, and there is no name server.
 */

const PORT = 9;
const ignore = () => undefined;
const expected: Record<string, Pick<Observation, 'kind' | 'to'>> = {};
let addresses = 0;

/** A loopback address for each way, so that they can be distinguished. */
function probe(name: string, act: (address: string) => unknown): void {
  addresses += 1;
  const address = `127.0.9.${addresses}`;
  expected[name] = { kind: 'tcp', to: `${address}:${PORT}` };
  act(address);
}
/** A host name for each way. Its label is too long for a DNS query to be sent. */
function question(way: string, ask: (name: string) => unknown): void {
  const name = `${way.toLowerCase().replaceAll(/\W+/g, '-')}.${'x'.repeat(64)}.example.com`;
  expected[way] = { kind: 'dns', to: name };
  ask(name);
}

probe('net.connect', (host) => connect({ host, port: PORT }).on('error', ignore));
probe('tls.connect', (host) => connectTls({ host, port: PORT }).on('error', ignore));
probe('http.get', (host) => get({ host, port: PORT }).on('error', ignore));
probe('https.get', (host) => getSecurely({ host, port: PORT }).on('error', ignore));
probe('http2.connect', (host) => connectHttp2(`http://${host}:${PORT}`).on('error', ignore));
probe('fetch', (host) => fetch(`http://${host}:8009/`).catch(ignore));
expected.fetch = { kind: 'tcp', to: `127.0.9.${addresses}:8009` };
probe('WebSocket', (host) => new WebSocket(`ws://${host}:8009/`).addEventListener('error', ignore));
expected.WebSocket = { kind: 'tcp', to: `127.0.9.${addresses}:8009` };
probe('a worker thread', (host) => {
  const source = `require('node:net').connect(${PORT}, '${host}').on('error', () => undefined)`;
  new Worker(source, { eval: true });
});
connect({ host: '::1', port: PORT }).on('error', ignore);
expected['net.connect to IPv6'] = { kind: 'tcp', to: `[::1]:${PORT}` };
connect('/nowhere/probe.sock').on('error', ignore);
expected['net.connect to a path'] = { kind: 'pipe', to: '/nowhere/probe.sock' };

question('a name that is connected to', (host) => connect({ host, port: PORT }).on('error', ignore));
question('dns.lookup', (name) => dns.lookup(name, ignore));
question('dns.promises.lookup', (name) => promisedLookup(name).catch(ignore));
dns.lookupService('127.0.0.1', PORT, ignore);
expected['dns.lookupService'] = { kind: 'dns', to: '127.0.0.1' };
const nowhere = { timeout: 50, tries: 1 };
dns.setServers([`127.0.0.1:${PORT}`]);
question('dns.resolve4', (name) => dns.resolve4(name, ignore));
question('dns.resolveTxt', (name) => dns.resolveTxt(name, ignore));
const resolver = new dns.Resolver(nowhere);
resolver.setServers([`127.0.0.1:${PORT}`]);
question('dns.Resolver', (name) => resolver.resolve6(name, ignore));
const promised = new PromisedResolver(nowhere);
promised.setServers([`127.0.0.1:${PORT}`]);
question('dns.promises.Resolver', (name) => promised.resolveSrv(name).catch(ignore));

const socket = createSocket('udp4').on('error', ignore).unref();
socket.send('probe', PORT, '127.0.9.101', ignore);
expected['dgram.send'] = { kind: 'udp', to: `127.0.9.101:${PORT}` };
const connected = createSocket('udp4').on('error', ignore).unref();
connected.connect(PORT, '127.0.9.102', () => connected.send('probe', ignore));
expected['dgram.connect'] = { kind: 'udp', to: `127.0.9.102:${PORT}` };

spawn('/nowhere/spawned').on('error', ignore);
expected['child_process.spawn'] = { kind: 'process', to: '/nowhere/spawned' };
try {
  execFileSync('/nowhere/executed');
} catch {
  expected['child_process.execFileSync'] = { kind: 'process', to: '/nowhere/executed' };
}

process.stdout.write(JSON.stringify(expected));
