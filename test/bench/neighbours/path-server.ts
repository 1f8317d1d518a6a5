import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/**
 * The beginning of a URL's path, and the server's behaviour there. The rest of the path distinguishes
 * endpoints and sources.
 */
export const PATHS = {
  /** 500 after `FAIL_AFTER_MS`, and sometimes a success. */
  fail: '/fail',
  /** 500 at once. */
  failAtOnce: '/fail-at-once',
  /** Accepts the request and never answers. */
  silent: '/silent',
  /** 204 at once. */
  accept: '/accept',
  /** A page that sends one byte a second. */
  trickle: '/trickle',
  /** A page with another text at each fetch. */
  changing: '/changing',
  /** A page that does not change. */
  steady: '/steady',
} as const;
type Behaviour = keyof typeof PATHS;

/** Below the second after which an endpoint counts as slow. */
const FAIL_AFTER_MS = 450;
/** Often enough that ten deliveries in a row do not fail, which would disable the endpoint. */
const SUCCESS_EVERY = 12;
const TRICKLE_EVERY_MS = 1_000;
const WORDS = 40;

const pageOf = (word: string) =>
  `<!doctype html><title>${word}</title><main>${`<p>${`${word} `.repeat(8)}</p>`.repeat(WORDS / 8)}</main>`;

/**
 * Receivers of webhooks and pages of sources on one port.
 * @param onRequest called with the path of each request
 */
export async function startPathServer(
  { cert, key }: { cert: string; key: string },
  onRequest: (path: string) => void = () => undefined,
) {
  let hasRecovered = false;
  let requests = 0;
  /** Ends pending requests. */
  const held = new Set<() => void>();
  const server = createServer({ cert, key, keepAliveTimeout: 60_000 }, (request, response) => {
    const path = request.url ?? '';
    const behaviour = behaviourAt(path);
    requests += 1;
    const number = requests;
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    request.resume();
    request.once('end', () => {
      onRequest(path);
      const hold = (release: () => void, timer?: NodeJS.Timeout) => {
        held.add(release);
        response.once('close', () => {
          held.delete(release);
          clearInterval(timer);
        });
      };
      const answer = (status: number) => () =>
        void (response.headersSent || response.writeHead(status).end());
      const page = (word: string) =>
        response.writeHead(200, { 'content-type': 'text/html' }).end(pageOf(word));
      if (behaviour === 'steady') page('steady');
      else if (behaviour === 'changing') page(`word${number}`);
      else if (behaviour === 'accept') answer(204)();
      else if (behaviour === 'failAtOnce') answer(500)();
      else if (behaviour === 'trickle') {
        if (hasRecovered) return page('recovered');
        response.writeHead(200, { 'content-type': 'text/html' }).write('<');
        hold(
          () => response.end(),
          setInterval(() => response.write('p'), TRICKLE_EVERY_MS),
        );
      } else if (hasRecovered) answer(204)();
      else if (behaviour === 'silent') hold(answer(204));
      else hold(answer(204), setTimeout(answer(number % SUCCESS_EVERY === 0 ? 204 : 500), FAIL_AFTER_MS));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    /** Answers everything at once with success from now on, pending requests too. */
    setRecovered(value: boolean) {
      hasRecovered = value;
      if (value) for (const release of held) release();
    },
  };
}

function behaviourAt(path: string): Behaviour | undefined {
  const first = path.split('/', 2)[1];
  return (Object.keys(PATHS) as Behaviour[]).find((name) => PATHS[name] === `/${first}`);
}
