import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A message as it was sent to a queue. */
export interface SentMessage {
  queue: string;
  body: string;
}

interface SendRequest {
  QueueUrl: string;
  MessageBody?: string;
  Entries?: { MessageBody: string }[];
}

/** A proxy in front of a queue engine that records the sent messages. */
export async function recordingQueues(endpoint: string) {
  const messages: SentMessage[] = [];

  function note(target: string, text: string): void {
    if (!target.startsWith('AmazonSQS.SendMessage')) return;
    const { QueueUrl, MessageBody, Entries = [] } = JSON.parse(text) as SendRequest;
    const bodies = [
      ...(MessageBody === undefined ? [] : [MessageBody]),
      ...Entries.map((entry) => entry.MessageBody),
    ];
    for (const body of bodies) messages.push({ queue: QueueUrl.split('/').at(-1) ?? '', body });
  }

  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = Buffer.concat(chunks);
      note(String(incoming.headers['x-amz-target'] ?? ''), body.toString());
      const onward = request(new URL(incoming.url ?? '/', endpoint), {
        method: incoming.method,
        headers: incoming.headers,
      });
      onward.on('response', (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      onward.on('error', () => outgoing.destroy());
      outgoing.on('close', () => onward.destroy());
      onward.end(body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    messages,
    stop(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}
