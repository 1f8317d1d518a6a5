import { createServer } from 'node:http';
import type { DynamoDBStreamEvent } from 'aws-lambda';
import type { ReceivedEvent } from 'conversation-service-sdk/receiver';
import { createReceiver, readSecrets } from './receiver.ts';
import { handler as work } from './work.ts';

/*
 * Runs both functions on this machine. It makes the event of a function URL from each request, and keeps the
 * table in memory.
 */

const host = process.env.HOST ?? '127.0.0.1';
const port = Number(process.env.PORT ?? 4000);

const saved = new Set<string>();
const receive = createReceiver(readSecrets(), async (event: ReceivedEvent) => {
  if (saved.has(event.id)) return;
  saved.add(event.id);
  const records = { Records: [{ dynamodb: { NewImage: { event: { S: JSON.stringify(event) } } } }] };
  setImmediate(() => work(records satisfies DynamoDBStreamEvent));
});

const server = createServer(async (request, response) => {
  const isReceiver = request.method === 'POST' && request.url === '/webhooks';
  const chunks = await request.toArray().catch(() => undefined);
  // AWS calls no function for a request that broke off.
  if (chunks === undefined) return;
  const body = Buffer.concat(chunks).toString('base64');
  const event = { headers: request.headers, body, isBase64Encoded: true };
  const { statusCode } = isReceiver ? await receive(event) : { statusCode: 404 };
  response.writeHead(statusCode).end();
}).listen(port, host, () => console.log(`Listening at http://${host}:${port}/webhooks`));
process.once('SIGTERM', () => server.close());
