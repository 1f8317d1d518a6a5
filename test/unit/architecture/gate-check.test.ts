import { describe, expect, it } from 'vitest';
import { violationsOf } from './gate-check.ts';
import { sourceOf, UNREADABLE } from './source.ts';

const violations = (path: string, text: string) => violationsOf(sourceOf(path, text));

describe("the check of the functions' sources reports", () => {
  it.each([
    ["import { connect } from 'node:net';", 'node:net'],
    ["import net from 'net';", 'net'],
    ["import * as https from 'node:https';", 'node:https'],
    ["import { type Socket, connect } from 'node:tls';", 'node:tls'],
    ["import { type Socket } from 'node:tls';", 'node:tls'],
    ["import 'node:http2';", 'node:http2'],
    ["import { Worker as Other } from 'node:worker_threads';", 'node:worker_threads'],
    ["import { request } from 'undici';", 'undici'],
    ["export { request } from 'node:http';", 'node:http'],
    ["export * from 'node:http';", 'node:http'],
    ["export * as http from 'node:http';", 'node:http'],
    ["const net = await import('node:net');", 'node:net'],
    ["import net = require('node:net');", 'node:net'],
    ["import { SESv2Client } from '@aws-sdk/client-sesv2';", '@aws-sdk/client-sesv2'],
    ["import { LambdaClient } from '@aws-sdk/client-lambda';", '@aws-sdk/client-lambda'],
    ["import { DynamoDBClient } from '@aws-sdk/client-dynamodb';", '@aws-sdk/client-dynamodb'],
    ["import { createRemoteJWKSet } from 'jose';", 'jose'],
    ['const loaded = await import(name);', UNREADABLE],
    ["const loaded = await import('node:' + name);", UNREADABLE],
    ['const loaded = await import(`node:net`);', UNREADABLE],
  ])('%s', (text, module) => {
    for (const path of ['workers/mail.ts', 'notices/courier.ts', 'notices/mailings.ts', 'notices/mail.ts'])
      expect(violations(path, text)).toContainEqual(
        expect.stringContaining(`${path} loads ${module}, which`),
      );
  });

  it.each([
    ["await fetch('https://example.com/');", 'fetch'],
    ['const get = fetch;', 'fetch'],
    ['const clients = { fetch };', 'fetch'],
    ["new WebSocket('wss://example.com/');", 'WebSocket'],
    ["new EventSource('https://example.com/');", 'EventSource'],
    ['new XMLHttpRequest();', 'XMLHttpRequest'],
    ["navigator.sendBeacon('https://example.com/');", 'navigator'],
    ["globalThis.fetch('https://example.com/');", 'globalThis'],
    ["globalThis['fet' + 'ch']('https://example.com/');", 'globalThis'],
    ["Reflect.get(globalThis, 'fetch');", 'globalThis'],
    ['const { fetch: get } = global;', 'global'],
    ["const net = require('node:net');", 'require'],
    ["process.getBuiltinModule('node:net');", 'process'],
    ['const { getBuiltinModule: load } = process;', 'process'],
    ["eval('import(name)');", 'eval'],
    ["new Function('return fetch')();", 'Function'],
    ['const mine = new WeakSet();', 'WeakSet'],
    ['const permit = createPermit(orgId);', 'createPermit'],
  ])('%s', (text, name) => {
    expect(violations('notices/courier.ts', text)).toContainEqual(
      expect.stringContaining(`notices/courier.ts says ${name},`),
    );
  });

  it.each([
    ['an assertion', 'post(request, { orgId } as Permit);'],
    ['an assertion by way of unknown', 'const permit = {} as unknown as Permit;'],
    ['an assertion in angle brackets', 'const permit = <Permit>{};'],
    ['an assertion of many', 'const [permit] = [{}] as Permit[];'],
    ['an assertion of a type made of it', 'const { permit } = {} as { permit: Permit };'],
    ['another name for it', 'type Pass = Permit;'],
    ['a type that extends it', 'interface Pass extends Permit { name: string }'],
    ['a function that claims to return one', 'const make = (): Permit => JSON.parse(text);'],
    ['a function that takes anything for one', 'const isPermit = (value: unknown): value is Permit => true;'],
    ['a variable of it', 'let permit: Permit;'],
    ['a variable declared elsewhere', 'declare const permit: Permit;'],
    ['a place that one could be kept in', 'interface Job { permit: Permit }'],
  ])('%s', (_what, text) => {
    const imported = `import { type Permit } from '../tenancy/gate.ts';\n${text}`;
    expect(violations('notices/courier.ts', imported)).toEqual([
      'notices/courier.ts names Permit other than as the type of a parameter',
    ]);
  });

  it('a permit that was imported under another name', () => {
    const text = "import type { Permit as Pass } from '../tenancy/gate.ts';\nconst permit = {} as Pass;";
    expect(violations('notices/courier.ts', text)).toEqual(['notices/courier.ts gives Permit another name']);
  });

  it('a permit from an import of the whole module', () => {
    const text = "const permit = {} as import('../tenancy/gate.ts').Permit;";
    expect(violations('notices/courier.ts', text)).not.toEqual([]);
  });

  it.each([
    ["import { exchange } from '../delivery/outbound/exchange.ts';", 'exchange'],
    ["import { completeHeaders as exchange } from '../delivery/outbound/exchange.ts';", 'completeHeaders'],
    ["import * as outbound from '../delivery/outbound/client.ts';", '*'],
    ["export * from '../delivery/outbound/agent.ts';", '*'],
    ["export { ReceiverAgent } from '../delivery/outbound/agent.ts';", 'ReceiverAgent'],
    ["const { exchange } = await import('../delivery/outbound/exchange.ts');", '*'],
    ["import { receiverClient } from '../delivery/outbound/client.ts';", 'receiverClient'],
  ])('an import beside it: %s', (text, name) => {
    expect(violations('notices/courier.ts', text)).toContainEqual(
      expect.stringMatching(
        new RegExp(`^notices/courier.ts takes ${name.replace('*', '\\*')} from delivery/outbound/`),
      ),
    );
  });

  it.each([
    ["import { receiverClient as make } from '../delivery/outbound/client.ts';", 'receiverClient'],
    ["import { gate as open } from '../tenancy/gate.ts';", 'gate'],
    ["import { requirePermit as check } from '../tenancy/gate.ts';", 'requirePermit'],
  ])('another name given in %s', (text, name) => {
    expect(violations('workers/mail.ts', text)).toContainEqual(`workers/mail.ts gives ${name} another name`);
  });

  it("another function with the gate's name", () => {
    const text = `import { receiverClient } from '../delivery/outbound/client.ts';
      const gate = (of) => (orgId, ways) => ways.live(orgId);
      webhookSender({ gate: gate(of), outbound: receiverClient(terms) });`;
    expect(violations('workers/mail.ts', text)).toEqual([
      'workers/mail.ts makes a client that it does not give to a sender together with the gate',
    ]);
  });

  const inWorker = (text: string) =>
    violations(
      'workers/mail.ts',
      `import { gate } from '../tenancy/gate.ts';\nimport { receiverClient } from '../delivery/outbound/client.ts';\n${text}`,
    );

  it.each([
    ['without the gate', 'webhookSender({ outbound: receiverClient(terms), now });'],
    ['with something else for a gate', 'webhookSender({ gate: always, outbound: receiverClient(terms) });'],
    ['with a gate of its own', 'webhookSender({ gate: { gate }, outbound: receiverClient(terms) });'],
    ['to use it itself', 'const client = receiverClient(terms);\nawait client.post(request, permit);'],
    ['to use it at once', 'await receiverClient(terms).post(request, permit);'],
    ['for others', 'export const make = receiverClient;'],
    ['by another name', 'webhookSender({ gate: gate(of), sender: receiverClient(terms) });'],
  ])('a worker that makes a client %s', (_how, text) => {
    expect(inWorker(text)).toEqual([
      'workers/mail.ts makes a client that it does not give to a sender together with the gate',
    ]);
  });

  it('nothing about a worker that passes its client to a sender together with the gate', () => {
    expect(
      inWorker('webhookSender({ gate: gate(standings.of), outbound: receiverClient(terms), now });'),
    ).toEqual([]);
  });

  it.each([
    ['asks for no permit', 'export const client = { async post(request) { return exchange(request); } };'],
    [
      'sends first',
      "import { requirePermit } from '../../domain/gate.ts';\nexport const client = { async post(request, permit) { const result = await exchange(request); requirePermit(permit); return result; } };",
    ],
    [
      'asks in only one of its methods',
      "import { requirePermit } from '../../domain/gate.ts';\nexport const client = { async post(request, permit) { requirePermit(permit); return exchange(request); }, get(url) { return exchange(url); } };",
    ],
    [
      'asks for no permit where it fetches',
      "import { requirePermit } from '../../domain/gate.ts';\nexport const client = { async post(request, permit) { requirePermit(permit); return exchange(request); }, fetch(request) { return retrieve(request); } };",
    ],
    [
      'calls a function of its own named requirePermit',
      'const requirePermit = (permit) => permit;\nexport const client = { async post(request, permit) { requirePermit(permit); return exchange(request); } };',
    ],
    [
      'exports a function that sends',
      "import { requirePermit } from '../../domain/gate.ts';\nexport const client = { async post(request, permit) { requirePermit(permit); return exchange(request); } };\nexport const send = exchange;",
    ],
  ])('an outbound client that %s', (_what, text) => {
    expect(violations('delivery/outbound/client.ts', text)).toContainEqual(expect.stringMatching(/permit$/));
  });

  it.each([
    ['asks for no permit', 'return client.send(new SendEmailCommand(mail));'],
    ['sends first', 'await client.send(new SendEmailCommand(mail)); requirePermit(permit);'],
    [
      'asks only sometimes',
      'if (late) requirePermit(permit); return client.send(new SendEmailCommand(mail));',
    ],
  ])('a mailer that %s', (_what, body) => {
    const text = `import { SendEmailCommand } from '@aws-sdk/client-sesv2';
      import { requirePermit } from '../tenancy/gate.ts';
      export const mailer = (client) => ({ async send(mail, permit) { ${body} } });`;
    expect(violations('notices/notify.ts', text)).toEqual([
      'notices/notify.ts sends before it requires a permit',
    ]);
  });

  it('another file that could send e-mail', () => {
    const text = "import { SendEmailCommand } from '@aws-sdk/client-sesv2';";
    expect(violations('notices/courier.ts', text)).toEqual([
      'notices/courier.ts loads @aws-sdk/client-sesv2, which is not for it',
    ]);
  });

  it.each([
    'export const createPermit = (orgId) => orgId;',
    'export { issued };',
    'export { createPermit as make };',
    'export default createPermit;',
    'export function forge() {}',
  ])('a gate that has %s', (text) => {
    expect(violations('tenancy/gate.ts', text)).toContainEqual(expect.stringContaining('which is its own'));
  });

  it('an import from outside the functions', () => {
    expect(violations('workers/mail.ts', "import { send } from '../../lib/local/mail.ts';")).toEqual([
      'workers/mail.ts loads ../../lib/local/mail.ts, which is none of the functions',
    ]);
  });
});

describe("the check of the functions' sources accepts", () => {
  it.each([
    ['types, which have no effect at run time', 'workers/mail.ts', "import type { Socket } from 'node:net';"],
    [
      'a member of the same name',
      'notices/courier.ts',
      'port.fetch(); const port = { fetch: 1, require() {} };',
    ],
    [
      'names in comments and texts',
      'notices/courier.ts',
      "// fetch, WebSocket\nconst text = 'require(node:net)';",
    ],
    ['sockets in delivery/outbound', 'delivery/outbound/agent.ts', "import { Socket } from 'node:net';"],
    [
      'a parameter that is a permit',
      'notices/courier.ts',
      "import { type Permit, requirePermit } from '../tenancy/gate.ts';\nexport async function send(text: string, permit: Permit) { requirePermit(permit); }",
    ],
    [
      'a port that takes a permit',
      'notices/courier.ts',
      "import type { Permit } from '../tenancy/gate.ts';\nexport interface Mailer { send(text: string, permit: Permit): Promise<void>; close: (permit: Permit) => void }",
    ],
  ])('%s', (_what, path, text) => {
    expect(violations(path, text)).toEqual([]);
  });

  it('only TypeScript', () => {
    expect(() => sourceOf('workers/mail.ts', 'import { from')).toThrow('workers/mail.ts');
  });
});
