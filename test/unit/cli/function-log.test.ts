import { plain } from 'terminal/paint.ts';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { Throttle } from '../../../lib/local-run/start/throttle.ts';
import { renderTrouble } from '../../../lib/local-run/start/trouble.ts';

/** In local time, which the terminal shows. */
const NOW = new Date(2026, 10, 20, 14, 3, 22, 104);

const trouble = (text: string) => renderTrouble({ source: 'Dispatch', text }, plain);

describe('the view of function logs', () => {
  it.each([
    [{ name: 'Contended' }, '(Contended)'],
    [{ name: 'Error', code: 'ECONNREFUSED' }, '(Error: ECONNREFUSED)'],
    [{ name: 'Defect', message: 'out of order', code: 'X' }, '(Defect: out of order)'],
  ])('names the error %j with its context', (error, expected) => {
    expect(trouble(JSON.stringify({ level: 'ERROR', message: 'the request failed', error }))).toContain(
      `the request failed ${expected}`,
    );
  });

  it('shows warnings and errors of structured logs in short', () => {
    expect(trouble('{"level":"WARN","message":"slow receiver"}')).toBe('warn  Dispatch slow receiver');
    expect(
      trouble('{"level":"ERROR","message":"failed","error":{"name":"TypeError","message":"x is undefined"}}'),
    ).toBe('error Dispatch failed (TypeError: x is undefined)');
  });

  it('names the endpoint and the organization that a line is about, and its time', () => {
    const [webhookId, orgId] = [newId('whk', NOW), newId('org', NOW)];
    const line = { level: 'WARN', message: 'an endpoint was disabled', webhookId, orgId };
    expect(trouble(JSON.stringify(line))).toBe(
      `warn  Dispatch an endpoint was disabled: ${webhookId} of ${orgId}`,
    );
    expect(trouble(JSON.stringify({ ...line, timestamp: NOW.toISOString(), error: { name: 'Gone' } }))).toBe(
      `14:03:22.104  warn  Dispatch an endpoint was disabled: ${webhookId} of ${orgId} (Gone)`,
    );
  });

  it('names nothing that is no identifier of the service', () => {
    const line = { level: 'WARN', message: 'slow', requestId: 'whk_1', orgId: 'x', name: 'ada' };
    expect(trouble(JSON.stringify({ ...line, timestamp: 'soon' }))).toBe('warn  Dispatch slow');
  });

  it("uses a function's short name when the line has it", () => {
    expect(trouble('{"level":"WARN","service":"dispatch","message":"slow"}')).toBe('warn  dispatch slow');
  });

  it('omits other lines, even when they mention errors', () => {
    expect(trouble('{"level":"INFO","message":"attempt ended with an error"}')).toBeUndefined();
    expect(trouble('{"level":"INFO","message":"an attempt ended","error":"answered 500"}')).toBeUndefined();
    expect(trouble('START RequestId: 1')).toBeUndefined();
  });

  it('shows errors of the runner and the runtime', () => {
    expect(trouble('AccessDeniedException: not authorized to perform: dynamodb:PutItem')).toContain(
      'PutItem',
    );
    expect(trouble('Task timed out after 3.00 seconds')).toContain('timed out');
  });

  it('cuts long lines and escapes control characters', () => {
    const shown = trouble(`Error: \u001b[2J${'x'.repeat(1000)}`) ?? '';
    expect(shown.length).toBeLessThan(340);
    expect(shown).not.toContain('\u001b');
  });
});

describe('throttle', () => {
  it('passes a limited number and then reports how many it dropped', () => {
    const throttle = new Throttle(2, 1000);
    const shown = [0, 1, 2, 3].map((now) => throttle.admit(now).shown);
    expect(shown).toEqual([true, true, false, false]);
    expect(throttle.admit(1000)).toEqual({ shown: true, heldBack: 2 });
    expect(throttle.admit(2000)).toEqual({ shown: true, heldBack: 0 });
  });
});
