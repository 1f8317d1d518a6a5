import type { IncomingMessage } from 'node:http';

/** API Gateway's limit on a request body. */
const BODY_LIMIT_BYTES = 10 * 1024 * 1024;

/** How long a rejected body may continue to arrive, so that its sender reads the response. */
const DRAIN_MS = 1_000;

/** Whether `Content-Length` exceeds the limit. */
export function announcesTooMuch(message: IncomingMessage): boolean {
  return Number(message.headers['content-length'] ?? 0) > BODY_LIMIT_BYTES;
}

/** `too large` resolves as soon as that is certain, with the rest unread. */
export function readBody(message: IncomingMessage): Promise<Buffer | 'too large' | 'aborted'> {
  if (announcesTooMuch(message)) return Promise.resolve('too large');
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    message.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > BODY_LIMIT_BYTES) {
        message.removeAllListeners('data').pause();
        resolve('too large');
      } else chunks.push(chunk);
    });
    message.once('end', () => resolve(Buffer.concat(chunks)));
    message.once('close', () => resolve('aborted'));
  });
}

/** Discards the rest of a rejected body for a moment: closing at once would lose the response. */
export function drain(message: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, DRAIN_MS);
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    message.once('end', done);
    message.once('close', done);
    message.resume();
  });
}
