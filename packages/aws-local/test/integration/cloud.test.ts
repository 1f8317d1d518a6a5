import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Cloud } from '../../src/cloud.ts';
import { LocalRunError } from '../../src/errors.ts';
import { awaitAssertion, until } from '../support/until.ts';
import { aCloud, aPlace, userPool } from './a-cloud.ts';
import { verified } from './identity/an-application.ts';
import { isAlive } from './processes.ts';

const Item = z.object({ doneBy: z.array(z.string()), secret: z.string() });

async function item(cloud: Cloud, id: string, method = 'GET') {
  const response = await fetch(`${cloud.url}/api/${id}`, { method });
  expect(response.status).toBe(200);
  return Item.parse(await response.json());
}

async function untilDone(cloud: Cloud, id: string): Promise<string[]> {
  return awaitAssertion(async () => {
    const { doneBy } = await item(cloud, id);
    expect(doneBy).not.toEqual([]);
    return doneBy;
  }, 30_000);
}

/** The receive counts of a message that `work` logged. */
const receptionsOf = (id: string, lines: readonly string[]) =>
  lines.flatMap((line) => line.match(new RegExp(`work ${id} (\\d+)$`))?.[1] ?? []);

describe('a supported template', () => {
  it('passes an item from the API through stream and queue to the last function, once', async () => {
    // However slow the machine, no message reappears while it is in flight.
    const Queue = { Type: 'AWS::SQS::Queue', Properties: { VisibilityTimeout: 120 } };
    const { cloud, lines } = await aCloud(aPlace({ Queue }));
    expect(cloud.outputs).toEqual({ ApiUrl: `${cloud.url}/api/`, DirectName: 'Test-Direct' });
    await item(cloud, 'first', 'POST');
    expect(await untilDone(cloud, 'first')).toHaveLength(1);
    // The update of the item is in the stream too, and is filtered out.
    await item(cloud, 'second', 'POST');
    await untilDone(cloud, 'second');
    const fannedOut = (id: string) => lines.filter((line) => line.includes(`fan-out ["${id}"]`));
    // Log lines come through the output of the processes, possibly late.
    await until('the lines about both items', () =>
      ['first', 'second'].every((id) => fannedOut(id).length > 0 && receptionsOf(id, lines).length > 0),
    );
    expect(fannedOut('first')).toHaveLength(1);
    expect(receptionsOf('first', lines)).toEqual(['1']);
  });

  it('redelivers a message that the function reports as failed', async () => {
    const { cloud, lines } = await aCloud(aPlace());
    await item(cloud, 'twice', 'POST');
    expect(await untilDone(cloud, 'twice')).toHaveLength(1);
    await until('two receptions', () => receptionsOf('twice', lines).length >= 2);
    expect(receptionsOf('twice', lines)).toEqual(['1', '2']);
  });

  it('sends a record that cannot be processed to the failure destination, and continues', async () => {
    const { cloud, lines } = await aCloud(aPlace());
    await Promise.all(['a', 'poison', 'b'].map((id) => item(cloud, id, 'POST')));
    await Promise.all(['a', 'b'].map((id) => untilDone(cloud, id)));
    const letter = await awaitAssertion(() => {
      const line = lines.find((text) => text.includes('dead letter '));
      return JSON.parse(line?.slice(line.indexOf('{')) ?? '');
    }, 30_000);
    expect(letter).toMatchObject({
      requestContext: { condition: 'RetryAttemptsExhausted', approximateInvokeCount: 2 },
      responseContext: { functionError: 'Unhandled' },
      DDBStreamBatchInfo: { batchSize: 1, streamArn: expect.stringContaining(':dynamodb:us-east-1:') },
    });
  });

  it('refuses a call that the role of the function does not allow', async () => {
    const { cloud, lines } = await aCloud(aPlace());
    expect((await fetch(`${cloud.url}/api/x`, { method: 'DELETE' })).status).toBe(502);
    await awaitAssertion(() =>
      expect(lines.join('\n')).toContain('is not authorized to perform: dynamodb:DeleteItem'),
    );
  });

  it('lets functions be invoked by name, and returns their errors', async () => {
    const { cloud } = await aCloud(aPlace());
    expect(await cloud.invoke('Test-Direct', { a: 1 })).toEqual({ event: { a: 1 } });
    await expect(cloud.invoke('Test-Direct', { fail: true })).rejects.toThrow('RangeError: asked to fail');
    await expect(cloud.invoke('Unheard', {})).rejects.toThrow(LocalRunError);
  });
});

describe('a template with a user pool', () => {
  const user = { email: 'ada@local.test', password: 'right', attributes: { 'custom:role': 'admin' } };

  it('has an identity provider, whose issuer and client its functions know', async () => {
    const { cloud } = await aCloud(aPlace(userPool));
    const { identity } = cloud;
    if (!identity) throw new Error('a template with a user pool has an identity provider');
    expect(await cloud.invoke('Test-Settings', {})).toEqual({
      issuer: identity.issuer,
      audience: identity.clientId,
      pool: 'arn:aws:cognito-idp:us-east-1:000000000000:userpool/us-east-1_Users',
    });
    identity.setUsers([user]);
    const token = await identity.idToken(user.email, { lifetimeSeconds: 60 });
    expect(await verified(token, identity)).toMatchObject({ email: user.email, 'custom:role': 'admin' });
    expect(() => identity.setUsers([{ ...user, attributes: { 'custom:team': 'a' } }])).toThrow(LocalRunError);
  });

  it('keeps its identity provider until it stops', async () => {
    const place = aPlace(userPool);
    const { cloud } = await aCloud(place);
    const issuer = cloud.identity?.issuer ?? '';
    expect((await fetch(`${issuer}/.well-known/jwks.json`)).status).toBe(200);
    await cloud.stop();
    await expect(fetch(issuer)).rejects.toThrow('fetch failed');
    expect((await aCloud(place)).cloud.identity?.issuer).toBe(issuer);
  });

  it('has no identity provider without users', async () => {
    expect((await aCloud(aPlace())).cloud.identity).toBeUndefined();
  });
});

describe('a run that stops', () => {
  it('ends every process, and the next one continues with its state', async () => {
    const place = aPlace();
    const { cloud } = await aCloud(place);
    const { secret } = await item(cloud, 'kept', 'POST');
    const done = await untilDone(cloud, 'kept');
    const processes = cloud.processIds();
    expect(processes.length).toBeGreaterThanOrEqual(4);

    await Promise.all([cloud.stop(), cloud.stop()]);
    expect(processes.filter(isAlive)).toEqual([]);
    await expect(fetch(cloud.url)).rejects.toThrow();

    const { cloud: next, lines } = await aCloud(place);
    expect(await item(next, 'kept')).toEqual({ doneBy: done, secret });
    await item(next, 'new', 'POST');
    await untilDone(next, 'new');
    await until('the line about the new item', () => lines.some((line) => line.includes('fan-out ["new"]')));
    expect(lines.join('\n')).not.toContain('"kept"');
  });

  it('leaves no process behind when it cannot start', async () => {
    const { cloud } = await aCloud(aPlace());
    const taken = Number(new URL(cloud.url).port);
    const place = aPlace();
    await expect(aCloud(place, { port: taken })).rejects.toThrow(`Port ${taken} is taken`);
    // The state directory is free again.
    const { cloud: second } = await aCloud(place);
    expect(await cloud.invoke('Test-Direct', 1)).toEqual({ event: 1 });
    expect(await second.invoke('Test-Direct', 2)).toEqual({ event: 2 });
  });
});
