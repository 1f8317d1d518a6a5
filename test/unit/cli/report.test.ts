import { plain } from 'terminal/paint.ts';
import { describe, expect, it } from 'vitest';
import { CommandError } from '../../../packages/cli/src/errors.ts';
import { exitCodeFor, renderError, reportedError } from '../../../packages/cli/src/report.ts';
import {
  ApiError,
  type ApiErrorFields,
  ConnectionError,
  TimeoutError,
} from '../../../packages/sdk/src/index.ts';

const anError = (changed: Partial<ApiErrorFields> = {}) =>
  new ApiError({
    status: 400,
    type: 'VALIDATION_ERROR',
    message: 'The request is invalid.',
    requestId: 'req_1',
    details: [],
    retryAfterSeconds: undefined,
    ...changed,
  });

describe('the report of an error', () => {
  it('has the type, the message, each fault and the request of an error of the API', () => {
    const details = [
      { field: 'channelId', code: 'required', message: 'channelId is required.' },
      { field: 'externalUserId', code: 'invalid_format', message: 'is \u001b[2J' },
    ];
    expect(renderError(anError({ details }), plain).split('\n')).toEqual([
      'VALIDATION_ERROR: The request is invalid.',
      '  channelId: channelId is required.',
      '  externalUserId: is \\u001b[2J',
      '  Request-Id req_1',
    ]);
    expect(reportedError(anError({ details }))).toEqual({
      type: 'VALIDATION_ERROR',
      message: 'The request is invalid.',
      status: 400,
      details,
      requestId: 'req_1',
    });
  });

  it('says why no response came, and what to do', () => {
    const cause = Object.assign(new Error('fetch failed'), { code: 'ECONNREFUSED' });
    expect(renderError(new ConnectionError('No response from localhost:3000.', { cause }), plain)).toBe(
      'No response from localhost:3000: nothing listens there. Start the server, or check the host and port in the URL.',
    );
    expect(renderError(new TimeoutError('No response from api.example.com in 30000 ms.'), plain)).toBe(
      'No response from api.example.com in 30000 ms. Try again.',
    );
  });

  it('has the stack of a fault of the program only', () => {
    expect(renderError(new CommandError('NO_KEY', 'There is no key.'), plain)).toBe('There is no key.');
    expect(renderError(new TypeError('a fault'), plain)).toContain('    at ');
    expect(reportedError(new TypeError('a fault'))).toEqual({ type: 'FAILED', message: 'a fault' });
  });

  it.each([
    ['a refused request', anError(), 1],
    ['a refused key', anError({ status: 401 }), 3],
    ['a missing scope', anError({ status: 403 }), 3],
    ['a used up rate limit', anError({ status: 429 }), 4],
    ['a failing service', anError({ status: 503 }), 4],
    ['no response', new ConnectionError('No response.'), 4],
    ['wrong usage', new CommandError('USAGE', 'Wrong.'), 2],
    ['no key', new CommandError('NO_KEY', 'No key.'), 3],
    ['a missing yes', new CommandError('NOT_CONFIRMED', 'No.'), 1],
    ['a fault of the program', new TypeError('a fault'), 1],
  ])('has the exit code of %s', (_, error, code) => {
    expect(exitCodeFor(error)).toBe(code);
  });
});
