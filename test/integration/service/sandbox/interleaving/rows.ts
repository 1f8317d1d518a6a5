import { expect } from 'vitest';
import type { Row } from '../../../../support/tables.ts';
import { ID, MARK } from './caller.ts';
import type { Account, Owner, World } from './world.ts';

/** Whose a row is, and of which generation if it is data that a reset wipes. */
interface Place {
  owner: Owner;
  account: Account;
  /** As the rows themselves say it. */
  generation?: string;
}

/** Organizations and keys are an account's, in whichever of its rows they are named. */
const OF_ACCOUNT = new Set(['org', 'key']);
/** Endpoints outlive generations. */
const OF_ALL_GENERATIONS = new Set(['org', 'key', 'whk']);

/**
 * Holds every row of these accounts against what is known: everything in it is of one owner, of whom its key
 * says that it is, and all data of a sandbox, and no other, says so.
 */
export function expectOwners(world: World, rows: readonly Row[]): void {
  // What is in two places is in one that is wrong.
  const owners = new Map<string, string>([...world.things.values()].map(({ id, owner }) => [id, owner]));
  const generations = new Map<string, string>();
  for (const row of rows) {
    const place = placeOf(world, row);
    if (place === undefined) continue;
    const { owner, account, generation } = place;
    const settings = `account ${account.number}`;
    const text = JSON.stringify(row.item);
    const insist = (what: string, found: unknown, expected: unknown) =>
      expect({ row, what, is: found }).toEqual({ row, what, is: expected });

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

/** Holds the rows against the present generation of each sandbox: those of earlier ones are gone. */
export function expectNothingWiped(world: World, rows: readonly Row[]): void {
  for (const { number, sandboxOrgId } of world.accounts) {
    const organization = rows.find(({ item: { pk, sk } }) => pk === sandboxOrgId && sk === 'organization');
    const present = `${sandboxOrgId}#${organization?.item.generation}`;
    const wiped = rows.filter((row) => {
      const { owner, generation = present } = placeOf(world, row) ?? {};
      return owner === `sandbox ${number}` && generation !== present;
    });
    expect(wiped).toEqual([]);
  }
}

/** An organization's own row, its keys and its rate windows; keys by their digests, and orders to purge. */
const SETTINGS = /^(org_\w+(#api-keys|#(live|sandbox|dashboard)#\d+)?|key#\w+|purges#\d+)$/;

/** @returns undefined for what is nobody's of these */
function placeOf({ accounts }: World, { item }: Row): Place | undefined {
  // A row of the outbox may be an order that names a delivery.
  const { pk, orgId, generation } = { ...Object(item.reminder), ...item };
  const [, inKey, generationInKey] = /^(org_[0-9a-f]{32})(?:#(\d+)#)?/.exec(pk) ?? [];
  const organization = inKey ?? orgId;
  const account = accounts.find(
    ({ live, sandboxOrgId }) => organization === live.orgId || organization === sandboxOrgId,
  );
  if (account === undefined) return undefined;
  const { number, sandboxOrgId } = account;
  if (SETTINGS.test(pk)) return { owner: `account ${number}`, account };
  if (organization !== sandboxOrgId) return { owner: `live ${number}`, account };
  const found = inKey === undefined ? generation : generationInKey;
  const owner: Owner = `sandbox ${number}`;
  return found === undefined
    ? { owner, account }
    : { owner, account, generation: `${organization}#${found}` };
}
