import { expect } from 'vitest';
import type { Row } from '../../../../support/tables.ts';
import { ID, MARK } from './caller.ts';
import type { Account, Owner, World } from './world.ts';

/** The owner of a row, and its generation if a reset deletes it. */
interface Place {
  owner: Owner;
  account: Account;
  /** As the rows themselves say. */
  generation?: string;
}

/** Organizations and keys belong to an account, in all of its rows. */
const OF_ACCOUNT = new Set(['org', 'key']);
/** Endpoints outlive generations. */
const OF_ALL_GENERATIONS = new Set(['org', 'key', 'whk']);

/**
 * Checks every row of these accounts against the model: all of it belongs to the owner that its key names,
 * and all data of a sandbox names that sandbox only.
 */
export function expectOwners(world: World, rows: readonly Row[]): void {
  // Of two rows with one id, one is wrong.
  const owners = new Map<string, string>([...world.things.values()].map(({ id, owner }) => [id, owner]));
  const generations = new Map<string, string>();
  for (const row of rows) {
    const place = placeOf(world, row);
    if (place === undefined) continue;
    const { owner, account, generation } = place;
    const settings = `account ${account.number}`;
    const text = JSON.stringify(row.item);
    const insist = (what: string, actual: unknown, expected: unknown) =>
      expect({ row, what, is: actual }).toEqual({ row, what, is: expected });

    for (const [mark, number, whose] of text.matchAll(MARK))
      insist(mark, `${whose} ${number}`, whose === 'account' ? settings : owner);
    for (const [id, kind = ''] of text.matchAll(ID)) {
      const expected = OF_ACCOUNT.has(kind) ? settings : owner;
      insist(id, owners.get(id) ?? expected, expected);
      owners.set(id, expected);
      if (generation === undefined || OF_ALL_GENERATIONS.has(kind)) continue;
      insist(id, generations.get(id) ?? generation, generation);
      generations.set(id, generation);
    }
    insist('its mark', row.item.ofSandbox, generation);
  }
}

/** Checks that rows of earlier generations of each sandbox are gone. */
export function expectNoDeletedRows(world: World, rows: readonly Row[]): void {
  for (const { number, sandboxOrgId } of world.accounts) {
    const organization = rows.find(({ item: { pk, sk } }) => pk === sandboxOrgId && sk === 'organization');
    const present = `${sandboxOrgId}#${organization?.item.generation}`;
    const deleted = rows.filter((row) => {
      const { owner, generation = present } = placeOf(world, row) ?? {};
      return owner === `sandbox ${number}` && generation !== present;
    });
    expect(deleted).toEqual([]);
  }
}

/** An organization's own row, its keys and its rate windows; keys by their digests, and purges. */
const SETTINGS = /^(org_\w+(#api-keys|#(live|sandbox|dashboard)#\d+)?|key#\w+|purges#\d+)$/;

/** @returns undefined for a row of none of these owners */
function placeOf({ accounts }: World, { item }: Row): Place | undefined {
  // A row of the outbox may be a work item that names a delivery.
  const { pk, orgId, generation } = { ...Object(item.deliveryMessage), ...item };
  const [, inKey, generationInKey] = /^(org_[0-9a-f]{32})(?:#(\d+)#)?/.exec(pk) ?? [];
  const organization = inKey ?? orgId;
  const account = accounts.find(
    ({ live, sandboxOrgId }) => organization === live.orgId || organization === sandboxOrgId,
  );
  if (account === undefined) return undefined;
  const { number, sandboxOrgId } = account;
  if (SETTINGS.test(pk)) return { owner: `account ${number}`, account };
  if (organization !== sandboxOrgId) return { owner: `live ${number}`, account };
  const actual = inKey === undefined ? generation : generationInKey;
  const owner: Owner = `sandbox ${number}`;
  return actual === undefined
    ? { owner, account }
    : { owner, account, generation: `${organization}#${actual}` };
}
