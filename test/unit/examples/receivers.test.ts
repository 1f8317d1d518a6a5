import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, vi } from 'vitest';
import { createReceiver as createLambdaReceiver } from '../../../examples/aws-lambda/receiver.ts';
import { handler as work } from '../../../examples/aws-lambda/work.ts';
import { createReceiver as createExpressReceiver } from '../../../examples/express/receiver.ts';
import type { LambdaRequest } from '../../../packages/sdk/src/receiver/index.ts';
import { type Receiver, receiverContract } from '../../integration/guides/receivers/contract.ts';

/** Collects what is printed to the console. */
function interceptConsole() {
  const lines: string[] = [];
  const take = (...values: unknown[]) => void lines.push(values.join(' '));
  const spies = [
    vi.spyOn(console, 'log').mockImplementation(take),
    vi.spyOn(console, 'error').mockImplementation(take),
  ];
  return {
    printed: () => lines.join('\n'),
    restore: () => {
      for (const spy of spies) spy.mockRestore();
    },
  };
}

async function startExpress(secrets: readonly string[]): Promise<Receiver> {
  const output = interceptConsole();
  const server = createServer(createExpressReceiver(secrets)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`;
  return {
    post: async ({ headers, body }) =>
      (await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) })).status,
    printed: output.printed,
    async stop() {
      server.close();
      server.closeAllConnections();
      output.restore();
    },
  };
}

/** @param toEvent the event that the function gets for a request */
const startLambda =
  (toEvent: (headers: Record<string, string>, body: Buffer) => LambdaRequest) =>
  async (secrets: readonly string[]): Promise<Receiver> => {
    const output = interceptConsole();
    const saved = new Set<string>();
    const receive = createLambdaReceiver(secrets, async (event) => {
      if (saved.has(event.id)) return;
      saved.add(event.id);
      await work({ Records: [{ dynamodb: { NewImage: { event: { S: JSON.stringify(event) } } } }] });
    });
    return {
      post: async ({ headers, body }) => (await receive(toEvent(headers, Buffer.from(body)))).statusCode,
      printed: output.printed,
      stop: async () => output.restore(),
    };
  };

const capitalized = (headers: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase()),
      value,
    ]),
  );

describe('the receiver for Express', () => receiverContract(startExpress));

describe('the receiver for Lambda, behind a function URL', () =>
  receiverContract(
    startLambda((headers, body) => ({ headers, body: body.toString('base64'), isBase64Encoded: true })),
  ));

describe('the receiver for Lambda, behind a REST API', () =>
  receiverContract(
    startLambda((headers, body) => ({
      headers: capitalized(headers),
      body: body.toString('utf8'),
      isBase64Encoded: false,
    })),
  ));
