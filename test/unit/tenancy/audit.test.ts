import { describe, expect, it } from 'vitest';
import { newId, parseCreationTime } from '../../../functions/aws/ids.ts';
import {
  AuditAction,
  AuditEntry,
  AuditTargetType,
  compareFields,
  createAuditEntry,
  createStatusEntry,
  toAuditView,
} from '../../../functions/tenancy/audit.ts';
import { anAuditEntry, NOW } from '../../builders.ts';

const orgId = newId('org', NOW);
const change = { orgId, action: 'webhook.updated', targetId: newId('whk', NOW), changes: [] } as const;

describe('the comparison of fields', () => {
  it('shows values of other types as JSON', () => {
    expect(compareFields(['limits'], undefined, { limits: { a: 1 } })).toEqual([
      { field: 'limits', before: null, after: '{"a":1}' },
    ]);
  });
});

describe('an entry of the audit log', () => {
  it('names a user with the e-mail address, and a key', () => {
    const at = { ...change, requestId: 'a-request' };
    expect(createAuditEntry(at, { type: 'user', id: 'ada', email: 'ada@example.com' }, NOW)).toMatchObject({
      actorType: 'user',
      actorId: 'ada',
      actorEmail: 'ada@example.com',
      requestId: 'a-request',
      createdAt: NOW.toISOString(),
    });
    const byKey = createAuditEntry(at, { type: 'api_key', id: 'key_1' }, NOW);
    expect(byKey).toMatchObject({ actorType: 'api_key', actorId: 'key_1' });
    expect(byKey).not.toHaveProperty('actorEmail');
  });

  it.each([
    ['a user without an e-mail address', { type: 'user', id: 'ada', email: null }],
    ['the service', { type: 'service' }],
    ['the operator', { type: 'operator' }],
  ] as const)('of %s can be stored and read', (_, actor) => {
    const entry = createAuditEntry(change, actor, NOW);
    expect(AuditEntry.parse(entry)).toEqual(entry);
    expect(Object.values(entry)).not.toContain(undefined);
    expect(parseCreationTime(entry.id)).toEqual(NOW);
  });

  it.each([
    [newId('whk', NOW), 'disabled', 'webhook.disabled', 'active', 'auto_disabled'],
    [newId('whk', NOW), 'enabled', 'webhook.enabled', 'auto_disabled', 'active'],
    [newId('chn', NOW), 'disabled', 'channel.disabled', 'active', 'auto_disabled'],
    [newId('chn', NOW), 'enabled', 'channel.enabled', 'auto_disabled', 'active'],
  ] as const)('of a status names the receiver and both states: %s %s', (id, to, action, before, after) => {
    expect(createStatusEntry({ orgId, id }, to, { type: 'service' }, NOW)).toMatchObject({
      action,
      targetId: id,
      changes: [{ field: 'status', before, after }],
    });
  });

  it.each(AuditAction.options)('has a target whose type is known: %s', (action) => {
    const { target } = toAuditView(anAuditEntry({ action, targetId: 'it' }));
    expect(target.id).toBe('it');
    expect(AuditTargetType.options).toContain(target.type);
  });
});
