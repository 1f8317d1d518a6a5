import { describe, expect, it } from 'vitest';
import { committer } from '../../../functions/aws/transaction.ts';
import { endpointStore } from '../../../functions/receivers/endpoints.ts';
import { UNUSED_AFTER_SECONDS } from '../../../lib/operate/key-rotation.ts';
import { keyringSecret, newKey } from '../../../lib/operate/keyring-secret.ts';
import { listKeys, retireKey, rotateKeys } from '../../../lib/operate/keys.ts';
import { anEndpoint } from '../../builders.ts';
import { operators, refusal } from './operator-commands.ts';

const anOperator = operators();
const YES = { yes: true };

async function setUp() {
  const operator = await anOperator();
  const { context } = operator;
  const secret = keyringSecret(
    context().clients.secretsManager,
    context().place.keys.get('signing') ?? expect.fail('there is no keyring'),
  );
  return { ...operator, secret, ring: async () => (await secret.read()).ring };
}

describe('a key rotation', () => {
  it('adds a version, waits ten minutes, makes it current, and starts over at the next run', async () => {
    const { context, ring, pass } = await setUp();
    const first = await ring();
    const rotate = async () => (await rotateKeys(context(YES), ['signing'])).data;

    expect(await rotate()).toMatchObject({ kind: 'add', version: '2' });
    expect(await ring()).toMatchObject({ current: '1', '1': first['1'] });
    pass(590);
    expect(await rotate()).toMatchObject({ kind: 'wait', version: '2' });
    pass(20);
    expect(await rotate()).toMatchObject({ kind: 'promote', version: '2' });
    expect(await ring()).toMatchObject({ current: '2', '1': first['1'] });
    expect(await rotate()).toMatchObject({ kind: 'add', version: '3' });
  });

  it('changes nothing without --yes', async () => {
    const { context, ring } = await setUp();
    const before = await ring();
    expect(await refusal(rotateKeys(context(), ['signing']))).toContain('Nothing was done');
    await rotateKeys(context({ dryRun: true }), ['signing']);
    expect(await ring()).toEqual(before);
  });

  it('does not undo a concurrent change of another operator', async () => {
    const { secret, ring } = await setUp();
    const [mine, theirs] = [await secret.read(), await secret.read()];
    await secret.replace(theirs, { ...theirs.ring, '2': newKey() });
    const after = await ring();
    expect(await refusal(secret.replace(mine, { ...mine.ring, '2': newKey() }))).toContain(
      'was changed meanwhile',
    );
    expect(await ring()).toEqual(after);
  });

  it('adds one version when two operators rotate at once', async () => {
    const { context, ring } = await setUp();
    const results = await Promise.allSettled([0, 1, 2].map(() => rotateKeys(context(YES), ['signing'])));
    expect(results.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThanOrEqual(1);
    expect(Object.keys(await ring()).toSorted()).toEqual(['1', '2', 'current']);
  });

  it('shows no key', async () => {
    const { context, ring } = await setUp();
    const reports = [
      await rotateKeys(context({ ...YES, hurry: true }), ['signing']),
      await rotateKeys(context({ ...YES, hurry: true }), ['signing']),
      await listKeys(context()),
    ];
    const { current, ...keys } = await ring();
    for (const key of Object.values(keys)) expect(JSON.stringify(reports)).not.toContain(key);
    expect(reports[2]?.data).toMatchObject({
      keyrings: [{ keyring: 'signing', current, versions: ['1', '2'] }, {}],
    });
  });
});

describe('the retirement of a key version', () => {
  async function setUpRotated() {
    const made = await setUp();
    for (let step = 0; step < 2; step++) await rotateKeys(made.context({ ...YES, hurry: true }), ['signing']);
    return made;
  }

  it('removes an unused version a day after it was replaced', async () => {
    const { context, ring, pass } = await setUpRotated();
    expect(await refusal(retireKey(context(YES), ['signing', '1']))).toContain('less than 25 hours ago');
    pass(UNUSED_AFTER_SECONDS + 1);
    await retireKey(context(YES), ['signing', '1']);
    expect(Object.keys(await ring()).toSorted()).toEqual(['2', 'current']);
  });

  it('is refused while an endpoint uses the version, also with --hurry', async () => {
    const { context, ring, pass, tables } = await setUpRotated();
    const endpoint = anEndpoint({ keyVersion: '1' });
    await committer(tables.service.client)(endpointStore(tables.service).add(endpoint));
    pass(UNUSED_AFTER_SECONDS + 1);
    expect(await refusal(retireKey(context({ ...YES, hurry: true }), ['signing', '1']))).toContain(
      endpoint.id,
    );
    expect(await ring()).toHaveProperty('1');
  });

  it('changes nothing without --yes', async () => {
    const { context, ring, pass } = await setUpRotated();
    pass(UNUSED_AFTER_SECONDS + 1);
    expect(await refusal(retireKey(context(), ['signing', '1']))).toContain('Nothing was done');
    expect(await ring()).toHaveProperty('1');
  });
});
