import { describe, expect, it } from 'vitest';
import { DeliveryHistory } from '../../../packages/cli/src/listen/delivery-history.ts';
import { statusFor } from '../../../packages/cli/src/listen/receive.ts';
import { renderSummary } from '../../../packages/cli/src/listen/session.ts';

describe('delivery history', () => {
  it('calls a delivery a duplicate once it was accepted', () => {
    const history = new DeliveryHistory();
    expect(history.isDuplicate('dlv_1')).toBe(false);
    history.answered('dlv_1', 500);
    expect(history.isDuplicate('dlv_1')).toBe(false);
    history.answered('dlv_1', 204);
    expect(history.isDuplicate('dlv_1')).toBe(true);
    expect(history.isDuplicate('dlv_2')).toBe(false);
  });

  it('counts the attempts of each delivery', () => {
    const history = new DeliveryHistory();
    history.answered('dlv_1', 500);
    history.answered('dlv_1', 500);
    history.answered('dlv_2', 500);
    expect([history.attemptsOf('dlv_1'), history.attemptsOf('dlv_2'), history.attemptsOf('dlv_3')]).toEqual([
      2, 1, 0,
    ]);
  });

  it('drops the oldest ones', () => {
    const history = new DeliveryHistory();
    for (let index = 0; index <= 10_000; index += 1) history.answered(`dlv_${index}`, 200);
    expect(history.isDuplicate('dlv_0')).toBe(false);
    expect(history.isDuplicate('dlv_1')).toBe(true);
  });
});

describe('status sequence', () => {
  it('returns the statuses in order and stays at the last one', () => {
    expect([0, 1, 2, 3].map((before) => statusFor([500, 429, 200], before))).toEqual([500, 429, 200, 200]);
  });
});

describe('the last line of listening', () => {
  it.each([
    [0, 0, 'Received no deliveries.'],
    [1, 1, 'Received one delivery.'],
    [1, 3, 'Received one delivery in 3 attempts.'],
    [3, 3, 'Received 3 deliveries.'],
    [3, 9, 'Received 3 deliveries in 9 attempts.'],
  ])('counts %i deliveries with %i attempts as "%s"', (deliveries, attempts, line) => {
    expect(renderSummary(deliveries, attempts)).toBe(line);
  });
});
