import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { generateApiKey, hashApiKey } from '../../../functions/tenancy/api-keys.ts';
import { NOW } from '../../builders.ts';
import { aRequest, createThingWith, send, thingRoute } from './call.ts';
import { inMemory } from './in-memory.ts';

describe('the log of a request', () => {
  it('has its id, route, organization and key, and nothing of the payload', async () => {
    const service = inMemory();
    const body = JSON.stringify({ name: 'canary' });
    await send(thingRoute, service, aRequest(service, { body }), async () => {
      service.logger.log('CHECK_TOO_LATE', {});
      throw new Error('failed');
    });
    const { orgId, id: keyId } = service.key;
    for (const line of service.logger.lines)
      expect(line).toMatchObject({ requestId: 'extended-request-id', route: 'create-thing', orgId, keyId });
    const text = JSON.stringify(service.logger.lines);
    expect(text).not.toContain('canary');
    expect(text).not.toContain(service.secret);
    expect(text).not.toContain(hashApiKey(service.secret));
  });

  it('does not have the organization of an earlier request of the same process', async () => {
    const service = inMemory();
    await createThingWith({}, service);
    service.lookup.find = async () => {
      throw new Error('the lookup failed');
    };
    await createThingWith({ headers: { Authorization: `Bearer ${generateApiKey('live')}` } }, service);
    const last = service.logger.lines.at(-1);
    expect(last).toMatchObject({ level: 'ERROR', route: 'create-thing' });
    expect(last).not.toHaveProperty('orgId');
    expect(last).not.toHaveProperty('keyId');
  });

  it('has its own organization when several requests follow one another', async () => {
    const service = inMemory();
    const other = generateApiKey('live');
    const otherOrg = newId('org', NOW);
    service.keys.set(hashApiKey(other), { ...service.key, orgId: otherOrg });
    for (const secret of [service.secret, other])
      await send(
        thingRoute,
        service,
        aRequest(service, { headers: { Authorization: `Bearer ${secret}` } }),
        async () => {
          throw new Error('failed');
        },
      );
    expect(service.logger.lines.map((line) => line.orgId)).toEqual([service.key.orgId, otherOrg]);
  });
});
