import { describe, expect, it } from 'vitest';
import { readSettings } from '../../../lib/local/console/settings.ts';
import { contextOf } from '../../../lib/local/console/synthesis.ts';

describe('context of the stack', () => {
  it('holds the settings that were given, and no others', () => {
    expect(contextOf(readSettings({}, '/'))).toEqual({});
    expect(contextOf(readSettings({ RETRY_BASE_SECONDS: '0.1', PORT: '1' }, '/'))).toEqual({
      retryBaseSeconds: 0.1,
    });
  });
});
