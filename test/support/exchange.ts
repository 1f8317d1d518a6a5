import { Agent, request } from 'node:http';

/** A request as given: only what HTTP requires is added. */
export interface Sent {
  method: string;
  /** Path and query as sent. */
  target: string;
  headers: readonly (readonly [name: string, value: string])[];
  body?: string;
}

/** A request and its answer, as sent. */
export interface Exchange {
  sent: Sent;
  status: number;
  /** By name in lower case. */
  headers: Readonly<Record<string, string>>;
  text: string;
}

export interface Connection {
  send(sent: Sent): Promise<Exchange>;
  close(): void;
}

/** @param connections kept-alive connections at most */
export function connect(url: string, connections = 16): Connection {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const { port } = new URL(url);
  return {
    close: () => agent.destroy(),
    send: (sent) =>
      new Promise((resolve, reject) => {
        const { method, target, headers, body } = sent;
        const outgoing = request(
          {
            agent,
            host: '127.0.0.1',
            port,
            method,
            path: target,
            headers: [
              'host',
              `localhost:${port}`,
              ...headers.flat(),
              ...(body === undefined ? [] : ['content-length', String(Buffer.byteLength(body))]),
            ],
          },
          (response) => {
            const chunks: Buffer[] = [];
            response.on('data', (chunk) => chunks.push(chunk));
            response.on('error', reject);
            response.on('end', () =>
              resolve({
                sent,
                status: response.statusCode ?? 0,
                headers: Object.fromEntries(
                  Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
                ),
                text: Buffer.concat(chunks).toString(),
              }),
            );
          },
        );
        outgoing.on('error', reject);
        outgoing.end(body);
      }),
  };
}

/** The request as a command that a user can paste into a shell. */
export function curlOf({ method, target, headers, body }: Sent, url: string): string {
  return [
    `curl -i --path-as-is -X ${method} ${quoted(url + target)}`,
    ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`, 'latin1')}`),
    ...(body === undefined ? [] : [`--data-binary ${quoted(body)}`]),
  ].join(' \\\n  ');
}

/** Bash's quoting with escapes, so that unprintable characters are visible and can be pasted. */
function quoted(text: string, encoding: 'utf8' | 'latin1' = 'utf8'): string {
  if (/^[ -&(-~]*$/.test(text)) return `'${text}'`;
  const escaped = [...Buffer.from(text, encoding)].map((byte) =>
    byte === 0x27 || byte === 0x5c
      ? `\\${String.fromCharCode(byte)}`
      : byte >= 0x20 && byte < 0x7f
        ? String.fromCharCode(byte)
        : `\\x${byte.toString(16).padStart(2, '0')}`,
  );
  return `$'${escaped.join('')}'`;
}
