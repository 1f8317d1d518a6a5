import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { freePort, PORTS } from '../../src/engines/free-port.ts';

describe('a free port', () => {
  it('can be listened on, and is outside the range that systems assign', async () => {
    const port = await freePort();
    expect(port).toBeGreaterThanOrEqual(10_000);
    expect(port).toBeLessThan(32_768);
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
  });

  it('is the preferred one while that is free', async () => {
    const wanted = await freePort();
    expect(await freePort(wanted)).toBe(wanted);
    const server = createServer().listen(wanted, '127.0.0.1');
    await once(server, 'listening');
    expect(await freePort(wanted)).not.toBe(wanted);
    server.close();
  });

  it('is none that fetch refuses', async () => {
    // The refused ports above 1023 (Fetch Standard, port blocking).
    const refused = [
      ...[
        1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679,
      ],
      ...[6697, 10080],
    ];
    for (const port of refused)
      await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toMatchObject({
        cause: { message: 'bad port' },
      });
    expect(PORTS.lowest).toBeGreaterThan(Math.max(...refused));
  });
});
