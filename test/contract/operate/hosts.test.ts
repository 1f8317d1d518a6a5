import { describe, expect, it } from 'vitest';
import { blockedHostStore, blockedHosts } from '../../../functions/receivers/receiver-url.ts';
import { UsageError } from '../../../lib/operate/errors.ts';
import { blockHost, listHosts, unblockHost } from '../../../lib/operate/hosts.ts';
import { operators } from './operator-commands.ts';

const anOperator = operators();

describe('a host', () => {
  it('is blocked with its subdomains, listed with the reason, and unblocked', async () => {
    const { context, tables } = await anOperator();
    const blocksNow = async (host: string) => {
      const hosts = blockedHosts(blockedHostStore(tables.service).all);
      await hosts.refresh();
      return hosts.blocks(host);
    };
    const block = (flags: object) => blockHost(context(flags), ['Hooks.Example.COM']);

    expect((await block({ dryRun: true })).data).toEqual({ host: 'hooks.example.com', changed: false });
    await expect(block({})).rejects.toThrow('Nothing was done');
    expect(await blocksNow('hooks.example.com')).toBe(false);

    const reason = 'its owner asked';
    expect((await block({ yes: true, reason })).data).toEqual({ host: 'hooks.example.com', changed: true });
    expect(await blocksNow('eu.hooks.example.com')).toBe(true);
    expect((await listHosts(context())).data).toMatchObject({
      hosts: [{ host: 'hooks.example.com', reason }],
    });

    expect((await unblockHost(context({ yes: true }), ['hooks.example.com'])).data).toMatchObject({
      changed: true,
    });
    expect(await blocksNow('hooks.example.com')).toBe(false);
    expect((await unblockHost(context({ yes: true }), ['hooks.example.com'])).data).toMatchObject({
      changed: false,
    });
  });

  it('must be a host name, not a URL', async () => {
    const { context } = await anOperator();
    await expect(blockHost(context({ yes: true }), ['https://hooks.example.com/'])).rejects.toThrow(
      UsageError,
    );
  });
});
