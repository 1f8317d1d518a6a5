import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { reminderOf } from '../../../functions/domain/delivery.ts';
import { logger } from '../../../functions/platform/logger.ts';
import { UNREADABLE_MESSAGES } from '../../../functions/platform/metric-names.ts';
import { parseReminder } from '../../../functions/platform/reminders.ts';
import { aDelivery } from '../../builders.ts';

const printed: string[] = [];
const errors: unknown[][] = [];

beforeEach(() => {
  printed.length = 0;
  errors.length = 0;
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
  vi.spyOn(logger, 'error').mockImplementation((...line) => void errors.push(line));
});
afterEach(() => vi.restoreAllMocks());

const counted = () => printed.filter((line) => line.includes(UNREADABLE_MESSAGES)).length;

describe('a queue message', () => {
  it('is the reminder that was sent', () => {
    const reminder = reminderOf(aDelivery());
    expect(parseReminder(JSON.stringify(reminder), 'message-1')).toEqual(reminder);
    expect([errors, counted()]).toEqual([[], 0]);
  });

  it.each([
    '',
    'null',
    '{}',
    '{"id":',
    JSON.stringify({ ...reminderOf(aDelivery()), id: 'evt_1' }),
    JSON.stringify({ ...reminderOf(aDelivery()), generation: 'first' }),
  ])('that says %j is dropped, which is told and counted', (body) => {
    expect(parseReminder(body, 'message-1')).toBeUndefined();
    expect(errors).toEqual([[expect.any(String), expect.objectContaining({ messageId: 'message-1' })]]);
    expect(counted()).toBe(1);
  });

  it('of any other text brings no worker down', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (body) => {
        expect(parseReminder(body, 'message-1')).toBeUndefined();
      }),
    );
  });
});
