import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import type { Table } from '../../../functions/aws/table.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { copyRows } from '../../../lib/operate/table-copy.ts';
import { aConversation, aSandboxTenant, aTenant } from '../../builders.ts';
import { operators } from './operator-commands.ts';

const anOperator = operators();

/** The table `service`, and `knowledge` as the restored table: both have the same keys. */
async function setUp() {
  const { context, tables } = await anOperator();
  const tenant = aTenant();
  const row = (changes: object = {}) => {
    const conversation = aConversation();
    return { ...keys.conversation(tenant, conversation.id), ...conversation, ...changes };
  };
  const put = (table: Table, item: Record<string, unknown>) =>
    table.client.send(new PutCommand({ TableName: table.name, Item: item }));
  const read = async ({ pk, sk }: { pk: string; sk: string }) =>
    (await tables.service.client.send(new GetCommand({ TableName: tables.service.name, Key: { pk, sk } })))
      .Item;
  const copy = async (flags: object = { yes: true }, prefix = 'all') =>
    (await copyRows(context(flags), ['service', tables.knowledge.name, prefix])).data;
  return { tenant, row, put, read, copy, live: tables.service, restored: tables.knowledge };
}

describe('rows of a restored table', () => {
  it('are copied if missing, and not if the live row has changed', async () => {
    const { row, put, read, copy, live, restored } = await setUp();
    const [missing, same] = [row(), row()];
    const changed = row({ status: 'open' });
    for (const each of [missing, same, changed]) await put(restored, each);
    await put(live, same);
    await put(live, { ...changed, status: 'resolved' });

    expect(await copy()).toMatchObject({ written: true, missing: 1, different: 1, same: 1, left: 0 });

    expect(await read(missing)).toEqual(missing);
    expect(await read(changed)).toMatchObject({ status: 'resolved' });
    expect(await copy()).toMatchObject({ missing: 0, different: 1, same: 2 });
  });

  it('replace different rows with --overwrite', async () => {
    const { row, put, read, copy, live, restored } = await setUp();
    const before = row({ status: 'open' });
    await put(restored, before);
    await put(live, { ...before, status: 'resolved' });
    expect(await copy({ yes: true, overwrite: true })).toMatchObject({ different: 1 });
    expect(await read(before)).toEqual(before);
  });

  it('are copied for one organization when its key is given', async () => {
    const { tenant, row, put, read, copy, restored } = await setUp();
    const [mine, other] = [row(), row({ pk: `${aTenant().orgId}#0#conversations#0` })];
    for (const each of [mine, other]) await put(restored, each);
    expect(await copy({ yes: true }, tenant.orgId)).toMatchObject({ missing: 1 });
    expect(await read(mine)).toEqual(mine);
    expect(await read(other)).toBeUndefined();
  });

  it('are not copied if they belong to a sandbox or have expired', async () => {
    const { row, put, copy, restored } = await setUp();
    const sandbox = aSandboxTenant();
    await put(restored, row({ ofSandbox: `${sandbox.orgId}#${sandbox.generation}` }));
    await put(restored, row({ expiresAt: Math.floor(Date.now() / 1000) - 1 }));
    await put(restored, row({ expiresAt: Math.floor(Date.now() / 1000) + 3600 }));
    expect(await copy()).toMatchObject({ missing: 1, left: 2 });
  });

  it('are only counted with --dry-run', async () => {
    const { row, put, read, copy, restored } = await setUp();
    const missing = row();
    await put(restored, missing);
    expect(await copy({ dryRun: true })).toMatchObject({ written: false, missing: 1 });
    expect(await read(missing)).toBeUndefined();
    await expect(copy({})).rejects.toThrow('repeat with --yes');
  });

  it('are copied in many batches', async () => {
    const { row, put, copy, restored } = await setUp();
    await Promise.all(Array.from({ length: 230 }, () => put(restored, row())));
    expect(await copy()).toMatchObject({ missing: 230 });
    expect(await copy()).toMatchObject({ missing: 0, same: 230 });
  });
});
