import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
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

/** Serves a receiver on this machine. */
async function serve(
  output: ReturnType<typeof interceptConsole>,
  receiver: RequestListener,
): Promise<Receiver> {
  const server = createServer(receiver).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    printed: output.printed,
    async stop() {
      server.close();
      server.closeAllConnections();
      output.restore();
    },
  };
}

const startExpress = (secrets: readonly string[]): Promise<Receiver> =>
  serve(interceptConsole(), createExpressReceiver(secrets));

/** @param toEvent the event that the function gets for a request */
const startLambda =
  (toEvent: (headers: IncomingHttpHeaders, body: Buffer) => LambdaRequest) =>
  (secrets: readonly string[]): Promise<Receiver> => {
    const output = interceptConsole();
    const saved = new Set<string>();
    const receive = createLambdaReceiver(secrets, async (event) => {
      if (saved.has(event.id)) return;
      saved.add(event.id);
      await work({ Records: [{ dynamodb: { NewImage: { event: { S: JSON.stringify(event) } } } }] });
    });
    return serve(output, async (request, response) => {
      // The gateway calls no function for a request that it did not receive whole.
      const body = await request.toArray().catch(() => undefined);
      if (body === undefined) return;
      const { statusCode } = await receive(toEvent(request.headers, Buffer.concat(body)));
      response.writeHead(statusCode).end();
    });
  };

const capitalized = (headers: IncomingHttpHeaders) =>
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
