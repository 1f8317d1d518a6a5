import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { receiverContract } from './contract.ts';
import { buildClient, EXAMPLES, findMissing, install, start, startWithoutSecret } from './examples.ts';

/** Package managers, and compilers that run for the first time. */
const INSTALL_MS = 600_000;

const missing = await findMissing();

beforeAll(buildClient, INSTALL_MS);

describe.each(EXAMPLES.filter(({ folder }) => !missing.has(folder)))('examples/$folder', (example) => {
  let directory: string;
  let port: number;
  beforeAll(async () => {
    directory = await install(example);
  }, INSTALL_MS);

  receiverContract(async (secrets) => {
    const receiver = await start(example, directory, secrets);
    port = receiver.port;
    return receiver;
  });

  it('listens on the loopback interface only', () => {
    expect(new Set(listeningAddresses(port))).toEqual(new Set(['127.0.0.1']));
  });

  it('does not start without a secret, and says which variable is missing', {
    timeout: 120_000,
  }, async () => {
    const { code, printed } = await startWithoutSecret(example, directory);
    expect({ code, printed }).toEqual({
      code: expect.any(Number),
      printed: expect.stringContaining('WEBHOOK_SECRET is not set.'),
    });
    expect(code).not.toBe(0);
  });
});

/** Addresses that processes listen at: Linux lists them in hexadecimal, the last byte first. */
const listeningAddresses = (port: number): string[] =>
  ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/net/${table}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state]) => state === '0A')
      .map(([, local = '']) => local.split(':'))
      .filter(([, found = '']) => Number.parseInt(found, 16) === port)
      .map(([address = '']) => Buffer.from(address, 'hex').reverse().join('.')),
  );
