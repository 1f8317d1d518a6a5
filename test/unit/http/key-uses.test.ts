import { describe, expect, it, vi } from 'vitest';
import { keyUseRecorder } from '../../../functions/http/authentication.ts';
import { anApiKey, later, NOW, seconds } from '../../builders.ts';
import { capturingLogger } from '../aws/capturing-logger.ts';
import { createThingWith } from './call.ts';
import { inMemory } from './in-memory.ts';

const minutes = (count: number) => later(NOW, seconds(60 * count));

function notes({ fails = false } = {}) {
  const note = vi.fn(async () => {
    if (fails) throw new Error('the table is throttled');
  });
  const { log, lines } = capturingLogger();
  return { note, lines, noteUse: keyUseRecorder({ note }, log) };
}

describe('the last use of a key', () => {
  it('is recorded for the first call, then every five minutes, for each key', async () => {
    const { note, noteUse } = notes();
    const [key, other] = [anApiKey(), anApiKey()];
    for (const at of [minutes(0), minutes(1), minutes(4.9), minutes(5), minutes(6)]) await noteUse(key, at);
    await noteUse(other, minutes(6));
    expect(note.mock.calls).toEqual([
      [key, minutes(0), 500],
      [key, minutes(5), 500],
      [other, minutes(6), 500],
    ]);
  });

  it('is recorded once for concurrent calls', async () => {
    const { note, noteUse } = notes();
    const key = anApiKey();
    await Promise.all([noteUse(key, NOW), noteUse(key, NOW), noteUse(key, NOW)]);
    expect(note).toHaveBeenCalledTimes(1);
  });

  it('fails no request when it cannot be recorded, and is not retried with every call', async () => {
    const { note, noteUse, lines } = notes({ fails: true });
    const key = anApiKey();
    for (let count = 0; count < 10; count += 1) await noteUse(key, NOW);
    expect(note).toHaveBeenCalledTimes(1);
    expect(lines).toMatchObject([{ level: 'WARN', code: 'KEY_USE_NOT_NOTED' }]);
  });
});

describe('a request', () => {
  it('records the use of its key, accepted or not', async () => {
    const [permitted, spent, unscoped] = [inMemory(), inMemory(), inMemory()];
    spent.budget = 0;
    unscoped.key.scopes.splice(0);
    for (const service of [permitted, spent, unscoped]) {
      await createThingWith({}, service);
      expect(service.used).toEqual([service.key.id]);
    }
  });

  it('records nothing for an unknown caller', async () => {
    const service = inMemory();
    await createThingWith({ headers: { Authorization: `Bearer ck_live_${'A'.repeat(43)}` } }, service);
    expect(service.used).toEqual([]);
  });
});
